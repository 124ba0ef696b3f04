// Calls every operation of a running server once, and what a caller meets beside answers.
// Usage: node test/every.mjs http://127.0.0.1:PORT KEY, after npm run build
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { Problem, socialdata } from "socialdata";

const [baseUrl, key] = process.argv.slice(2);
const client = socialdata({ baseUrl, key });
const description = await (await fetch(`${baseUrl}/openapi.json`)).json();
const resolve = (ref) => ref.$ref ? ref.$ref.slice(2).split("/").reduce((at, name) => at[name], description) : ref;

const values = { platform: "mock", provider: "mock", path: "users/salma_haddad", region: "SA", text: "قهوة", of: "/v1/mock/profile?handle=salma_haddad",
  url: "https://mock.example/@salma_haddad", monitor: "salma", field: "followers" };
const made = await fetch(`${baseUrl}/manage/monitors/${values.monitor}`, {
  method: "PUT", headers: { Authorization: `Bearer ${key}`, "Content-Type": "application/json" },
  body: JSON.stringify({ operation: "profile", platform: "mock", params: { handle: "salma_haddad" }, every: "1h" }),
});
assert.equal(made.status, 201, await made.text());
// Of several parameters just one is given.
const oneOf = (p) => p.description.includes("Exactly one of");
let called = 0;
for (const [path, { get }] of Object.entries(description.paths)) {
  if (!path.startsWith("/v1/") && path !== "/health") continue;
  const params = { path: {}, query: {} };
  const all = (get.parameters ?? []).map(resolve);
  for (const p of [...all.filter((p) => p.required), ...all.filter(oneOf).slice(0, 1)]) {
    params[p.in][p.name] = values[p.name] ?? "salma_haddad";
  }
  const call = () => client.get(path, { params });
  if (path === "/v1/job") {
    await assert.rejects(call, (e) => e instanceof Problem && e.code === "not_found"); // of which only a search knows the id
  } else if (path.startsWith("/v1/facebook/")) {
    await assert.rejects(call, (e) => e instanceof Problem); // the sandbox is another platform
  } else {
    const answer = await call();
    if (path === "/health") assert.equal(answer.status, "ok");
    else assert.ok(answer.data && answer.meta.request_id, path);
  }
  called++;
}
assert.ok(called > 40, `${called} operations`);

const ids = new Set();
let pages = 0;
for await (const page of client.pages("/v1/{platform}/comments", { params: { path: { platform: "mock" }, query: { post_id: "salma" } } })) {
  pages++;
  for (const comment of page.data) ids.add(comment.id);
}
assert.ok(pages > 1 && ids.size > 10 * (pages - 1), `${ids.size} comments on ${pages} pages`);

const found = await client.get("/v1/search", { params: { query: { query: "coffee", platforms: ["mock", "github"] } } });
assert.equal(found.meta.platforms.mock, "ok");
await assert.rejects(
  client.get("/v1/{platform}/profile", { params: { path: { platform: "mock" }, query: { handle: "not_found" } } }),
  (e) => e instanceof Problem && e.code === "not_found" && e.status === 404 && e.requestId.startsWith("req_"),
);
await assert.rejects(socialdata({ baseUrl, key: "sk_live_wrong" }).get("/v1/me"), (e) => e instanceof Problem && e.code === "unauthorized");

// A service that refuses twice and then answers, and one that leads elsewhere.
const seen = [];
const flaky = createServer((request, response) => {
  seen.push(request.headers["idempotency-key"]);
  if (request.url.startsWith("/v1/platforms")) return response.writeHead(302, { Location: baseUrl }).end();
  if (seen.length === 1) return request.socket.destroy();
  if (seen.length === 2) return response.writeHead(503, { "Content-Type": "text/html", "Retry-After": "0" }).end();
  response.writeHead(200, { "Content-Type": "application/json" }).end(JSON.stringify({ data: {}, meta: {} }));
});
await new Promise((ready) => flaky.listen(0, "127.0.0.1", ready));
try {
  const retrying = socialdata({ baseUrl: `http://127.0.0.1:${flaky.address().port}`, key });
  await retrying.get("/v1/me");
  assert.ok(seen.length === 3 && new Set(seen).size === 1, `requests under the keys ${seen}`);
  await assert.rejects(retrying.get("/v1/platforms"), (e) => !e.message.includes(key));
  assert.equal(seen.length, 4);
} finally {
  flaky.close();
}
console.log(`TypeScript: ${called} operations, pages, problems and retries`);
