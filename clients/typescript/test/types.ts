// What the compiler must know. It is compiled and not run.
import { Problem, socialdata, verifyWebhook, type Code, type Schemas } from "socialdata";

const client = socialdata({ baseUrl: "https://data.example.com", key: "sk_live_…" });

const profile = await client.get("/v1/{platform}/profile", { params: { path: { platform: "github" }, query: { handle: "octocat" } } });
export const handle: string = profile.data.handle;
export const left: number = profile.meta.credits_remaining;
export const me: Schemas["Me"] = (await client.get("/v1/me")).data;

for await (const page of client.pages("/v1/{platform}/posts", { params: { path: { platform: "x" }, query: { handle: "a" } } })) {
  export_(page.data[0]?.author.handle, page.meta.next_cursor);
}
for (const result of (await client.get("/v1/search", { params: { query: { query: "coffee", platforms: ["github", "reddit"] } } })).data) {
  if (result.kind === "post") export_(result.text);
}

for await (const page of client.pages("/v1/keys")) export_(page.data[0]?.name);
const key = await client.manage("put", "/manage/keys/{name}", { params: { path: { name: "web" } }, body: { day_cap: 5 } });
export const secret: string | null = key!.secret;
export const overlap: string | null = (await client.manage("post", "/manage/keys/{id}/rotate", { params: { path: { id: "key_a" } } }))!.former_until;
export const ended: undefined = await client.manage("delete", "/manage/monitors/{name}", { params: { path: { name: "ann" } } });

export const fresh: Schemas["Profile"] = (await client.get("/v1/{platform}/profile", {
  params: { path: { platform: "github" }, query: { handle: "octocat", fresh: true, include_raw: false } },
})).data;
for await (const change of client.follow({ after: 7, monitor: "ann" })) export_(change.monitor ?? undefined, String(change.seq));
export const delivery: Record<string, unknown> = await verifyWebhook("whsec_", new Headers(), "{}", { tolerance: 60 });

try {
  // @ts-expect-error a flag is a boolean
  await client.get("/v1/{platform}/profile", { params: { path: { platform: "github" }, query: { handle: "octocat", fresh: "true" } } });
  // @ts-expect-error there is no such filter
  client.follow({ moniter: "ann" });
  // @ts-expect-error a cap is a number
  await client.manage("put", "/manage/keys/{name}", { params: { path: { name: "web" } }, body: { day_cap: "5" } });
  // @ts-expect-error keys are not deleted by name
  await client.manage("put", "/manage/keys/{id}", { params: { path: { id: "key_a" } }, body: {} });
  // @ts-expect-error a handle is required
  await client.get("/v1/{platform}/profile", { params: { path: { platform: "github" }, query: {} } });
  // @ts-expect-error there is no such path
  await client.get("/v1/{platform}/nothing", { params: { path: { platform: "github" } } });
  // @ts-expect-error a profile has no pages
  client.pages("/v1/{platform}/profile", { params: { path: { platform: "github" }, query: { handle: "octocat" } } });
} catch (e) {
  const code: Code | undefined = e instanceof Problem ? e.code : undefined;
  // @ts-expect-error there is no such code
  if (code === "teapot") throw e;
  if (code !== "not_found") throw e;
}

function export_(..._: (string | undefined)[]) {}
