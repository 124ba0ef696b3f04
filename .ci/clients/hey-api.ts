// Reads real answers with the client that @hey-api/openapi-ts makes of the API description.
import { client } from "./generated/hey-api/client.gen.js";
import { getPost, listPosts, searchAcross } from "./generated/hey-api/index.js";
import type { Post } from "./generated/hey-api/index.js";

const [base, key] = process.argv.slice(2);
client.setConfig({ baseUrl: base, auth: key });

function expect(ok: boolean, what: unknown): asserts ok {
  if (!ok) throw new Error(JSON.stringify(what));
}

const posts = await listPosts({ path: { platform: "mock" }, query: { handle: "salma", enrich: "arabic" } });
expect(posts.data !== undefined, posts.error);
const post: Post | undefined = posts.data.data[0];
expect(post?.author.handle === "salma" && post.enrichment != null && posts.data.meta.credits_used === 4, posts.data);

const found = await searchAcross({ query: { query: "coffee", platforms: ["mock"] } });
expect(found.data !== undefined && found.data.data.length > 0, found.error);
for (const result of found.data.data) {
  if (result.kind === "post") expect(typeof result.text === "string", result); // the kind tells the types apart
}

const missing = await getPost({ path: { platform: "mock" }, query: { id: "not_found" } });
expect(missing.error?.code === "not_found" && missing.response?.status === 404, missing.error);
console.log("@hey-api/openapi-ts: a list, a search and a problem are read");
