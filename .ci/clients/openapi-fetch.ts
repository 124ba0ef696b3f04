// Reads real answers with openapi-fetch and the types that openapi-typescript makes of the API description.
import createClient from "openapi-fetch";
import type { components, paths } from "./generated/openapi-typescript.js";

const [base, key] = process.argv.slice(2);
const client = createClient<paths>({ baseUrl: base, headers: { Authorization: `Bearer ${key}` } });

function expect(ok: boolean, what: unknown): asserts ok {
  if (!ok) throw new Error(JSON.stringify(what));
}

const posts = await client.GET("/v1/{platform}/posts", { params: { path: { platform: "mock" }, query: { handle: "salma", enrich: "arabic" } } });
expect(posts.data !== undefined, posts.error);
const post: components["schemas"]["Post"] | undefined = posts.data.data[0];
expect(post?.author.handle === "salma" && post.enrichment != null && posts.data.meta.credits_used === 4, posts.data);

const found = await client.GET("/v1/search", { params: { query: { query: "coffee", platforms: ["mock"] } } });
expect(typeof found.data === "object" && found.data.data.length > 0, found.error); // it could be a stream, which is a text
for (const result of found.data.data) {
  if (result.kind === "post") expect(typeof result.text === "string", result); // the kind tells the types apart
  if (result.kind === "profile") expect(typeof result.handle === "string", result);
}

const missing = await client.GET("/v1/{platform}/post", { params: { path: { platform: "mock" }, query: { id: "not_found" } } });
expect(missing.error?.code === "not_found" && missing.response.status === 404, missing.error);

// @ts-expect-error a handle is required
await client.GET("/v1/{platform}/profile", { params: { path: { platform: "mock" }, query: {} } });
console.log("openapi-fetch: a list, a search and a problem are read");
