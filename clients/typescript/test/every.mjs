// Calls every operation of a running server once, and what a caller meets beside answers.
// Usage: node test/every.mjs http://127.0.0.1:PORT KEY, after npm run build; the server runs with --webhooks-private.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { Problem, socialdata } from "socialdata";

const [baseUrl, key] = process.argv.slice(2);
const client = socialdata({ baseUrl, key });
const description = await (await fetch(`${baseUrl}/openapi.json`)).json();
const resolve = (ref) => ref.$ref ? ref.$ref.slice(2).split("/").reduce((at, name) => at[name], description) : ref;

const values = { platform: "mock", provider: "mock", path: "users/salma_haddad", region: "SA", text: "قهوة", of: "/v1/mock/profile?handle=salma_haddad",
  url: "https://mock.example/@salma_haddad", urls: "https://mock.example/@salma_haddad", monitor: "salma", field: "followers" };
const done = new Set(); // the routes below /manage that were called
const manage = (method, path, names, body) => {
  done.add(`${method} ${path}`);
  return client.manage(method, path, { params: { path: names }, ...(body && { body }) });
};
const monitor = { name: values.monitor };
const watched = { operation: "profile", platform: "mock", params: { handle: "salma_haddad" }, every: "1h" };
assert.equal((await manage("put", "/manage/monitors/{name}", monitor, watched)).name, values.monitor);
const lines = '{"platform":"mock","operation":"profile","params":{"handle":"salma"}}\n';
assert.equal((await manage("put", "/manage/bulk/{name}", monitor, lines)).accepted, 1);
for await (const result of client.bulkResults(values.monitor)) assert.ok(result.line === 1 && result.data.handle === "salma");
assert.equal((await manage("delete", "/manage/bulk/{name}", monitor)).found, 1);
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
  if (path === "/v1/bulkresults") params.query.id = values.monitor;
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

const whole = await client.get("/v1/{platform}/profile", {
  params: { path: { platform: "mock" }, query: { handle: "salma", fresh: true, include_raw: false } },
});
assert.ok(whole.meta.cache === "MISS" && !whole.data.raw, "booleans are sent as words");

const found = await client.get("/v1/search", { params: { query: { query: "coffee", platforms: ["mock", "github"] } } });
assert.equal(found.meta.platforms.mock, "ok");
await assert.rejects(
  client.get("/v1/{platform}/profile", { params: { path: { platform: "mock" }, query: { handle: "not_found" } } }),
  (e) => e instanceof Problem && e.code === "not_found" && e.status === 404 && e.requestId.startsWith("req_"),
);
await assert.rejects(socialdata({ baseUrl, key: "sk_live_wrong" }).get("/v1/me"), (e) => e instanceof Problem && e.code === "unauthorized");

// What the account makes, changes and ends itself.
const refused = (code) => (e) => e instanceof Problem && e.code === code;
const name = `web ${Date.now()}`;
const web = await manage("put", "/manage/keys/{name}", { name }, { day_cap: 5 });
assert.ok(web.secret.startsWith("sk_") && web.name === name && web.day_cap === 5, JSON.stringify({ ...web, secret: "" }));
assert.equal((await manage("put", "/manage/keys/{name}", { name }, { day_cap: 4 })).secret, null);
assert.equal((await manage("post", "/manage/keys/{id}", { id: web.id }, { day_cap: 3 })).day_cap, 3);
const rotated = await manage("post", "/manage/keys/{id}/rotate", { id: web.id }, { overlap: "1h" });
for (const secret of [web.secret, rotated.secret]) {
  const other = socialdata({ baseUrl, key: secret });
  assert.equal((await other.get("/v1/me")).data.key.id, web.id);
  await assert.rejects(other.manage("delete", "/manage/keys/{id}", { params: { path: { id: web.id } } }), refused("unauthorized"));
}
const listed = [];
for await (const page of client.pages("/v1/keys")) listed.push(...page.data);
assert.ok(listed.some((k) => k.id === web.id && k.day_cap === 3) && !JSON.stringify(listed).includes(rotated.secret));
assert.ok((await manage("delete", "/manage/keys/{id}", { id: web.id })).revoked_at);
await assert.rejects(socialdata({ baseUrl, key: web.secret }).get("/v1/me"), refused("unauthorized"));

assert.equal((await manage("put", "/manage/account", {}, { credits_low: 50 })).credits_low, 50);
assert.equal((await manage("get", "/manage/account", {})).credits_low, 50);
assert.equal((await manage("post", "/manage/monitors/{name}/pause", monitor)).state, "paused");
assert.notEqual((await manage("post", "/manage/monitors/{name}/resume", monitor)).state, "paused");
assert.equal((await manage("put", "/manage/feeds/{name}", monitor)).monitor, values.monitor);
assert.equal(await manage("delete", "/manage/feeds/{name}", monitor), undefined);
assert.equal(await manage("delete", "/manage/monitors/{name}", monitor), undefined);
const hooks = [];
const receiver = createServer((request, response) => {
  hooks.push(request.headers["webhook-id"]);
  request.resume().on("end", () => response.writeHead(204).end());
});
await new Promise((ready) => receiver.listen(0, "127.0.0.1", ready));
const url = `http://127.0.0.1:${receiver.address().port}/salma`;
const hook = await manage("put", "/manage/endpoints/{name}", { name: "hook" }, { url });
assert.ok(hook.secret);
assert.notEqual((await manage("post", "/manage/endpoints/{name}/secret", { name: "hook" })).secret, hook.secret);
// It may be told of the key that was revoked before as well.
const tested = await manage("post", "/manage/endpoints/{name}/test", { name: "hook" });
assert.ok(hooks.includes(tested.change), `${hooks} lacks ${JSON.stringify(tested)}`);
await assert.rejects(manage("post", "/manage/deliveries/{id}/again", { id: "none" }), refused("not_found"));
assert.equal(await manage("delete", "/manage/endpoints/{name}", { name: "hook" }), undefined);
receiver.close();
receiver.closeAllConnections();
const managing = await (await fetch(`${baseUrl}/manage/openapi.json`)).json();
for (const [path, methods] of Object.entries(managing.paths)) {
  for (const [method, { security }] of Object.entries(methods)) {
    if (security) { // it is for the operator
      await assert.rejects(manage(method, path, {}, method === "get" ? undefined : {}), refused("unauthorized"));
    }
    assert.ok(done.has(`${method} ${path}`), `${method} ${path} was not called`);
  }
}

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
// The changes of the monitor that this made, from the first on.
const seqs = [];
for await (const change of client.follow({ after: 0, signal: AbortSignal.timeout(20_000) })) {
  seqs.push(change.seq);
  if (seqs.length === 2) break;
}
assert.ok(seqs[0] > 0 && seqs[1] > seqs[0], `changes ${seqs}`);
console.log(`TypeScript: ${called} operations, ${done.size} routes that manage, pages, problems and retries`);
