// The client against servers that fail, after npm run build: node --test test/client.test.mjs
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { test } from "node:test";
import { Problem, WebhookError, socialdata, verifyWebhook } from "socialdata";

/** Serves the next of answers to each request, and keeps the headers and the URLs of the requests. */
async function serve(t, ...answers) {
  const seen = [];
  const server = createServer((request, response) => {
    seen.push({ ...request.headers, url: request.url });
    const [status, headers, body] = answers.shift() ?? [500, {}, ""];
    if (status === 0) return request.socket.destroy();
    response.writeHead(status, headers).end(body);
  });
  await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
  t.after(() => { server.close(); server.closeAllConnections(); });
  return { seen, client: socialdata({ baseUrl: `http://127.0.0.1:${server.address().port}`, key: "sk_test_a" }) };
}

const json = { "Content-Type": "application/json" }, stream = { "Content-Type": "text/event-stream" };

test("words to come are kept, and unknown members ignored", async (t) => {
  const { client } = await serve(t,
    [200, json, '{"data":{"kind":"a word to come","verified":"maybe","more":true},"meta":{"cache":"WARM"}}'],
    [400, { "Content-Type": "application/problem+json" }, '{"code":"a_code_to_come","detail":"no","status":400,"request_id":"req_1"}']);
  const me = await client.get("/v1/me");
  assert.deepEqual(me, { data: { kind: "a word to come", verified: "maybe", more: true }, meta: { cache: "WARM" } });
  await assert.rejects(client.get("/v1/me"), (e) => e instanceof Problem && e.code === "a_code_to_come");
});

test("a stream that is lost is resumed behind the last change", async (t) => {
  const { client, seen } = await serve(t,
    [200, stream, ': here\n\nevent: change\nid: 7\ndata: {"seq": 7,\ndata:  "type": "new"}\n\n'],
    [503, { "Retry-After": "0" }, ""],
    [0],
    [200, stream, 'event: change\r\nid: 8\r\ndata: {"seq":8,"type":"a word to come"}\r\n\r\nevent: other\ndata: {}\n\nevent: change\ndata: {"seq'],
    [401, { "Content-Type": "application/problem+json" }, '{"code":"unauthorized","detail":"no","status":401,"request_id":""}']);
  const got = [];
  await assert.rejects(async () => {
    for await (const change of client.follow({ after: 6, monitor: "salma" })) got.push(change);
  }, (e) => e instanceof Problem && e.code === "unauthorized");
  assert.deepEqual(got, [{ seq: 7, type: "new" }, { seq: 8, type: "a word to come" }]);
  assert.deepEqual(seen.map((r) => r["last-event-id"]), ["6", "7", "7", "7", "8"]);
  assert.ok(seen.every((r) => r.url === "/v1/changes?monitor=salma" && r.accept === "text/event-stream" && r.authorization === "Bearer sk_test_a"));
});

test("a stream ends with the problem of the service, or when its reader leaves", async (t) => {
  const change = 'event: change\ndata: {"seq":1}\n\n';
  const { client, seen } = await serve(t,
    [200, stream, change + 'event: error\ndata: {"code":"unauthorized","detail":"revoked","status":401,"request_id":""}\n\n'],
    [200, stream, change + change]);
  await assert.rejects(async () => { for await (const _ of client.follow()); }, (e) => e instanceof Problem && e.code === "unauthorized");
  for await (const _ of client.follow()) break;
  assert.ok(seen.length === 2 && seen[0]["last-event-id"] === undefined);
  const ended = AbortSignal.abort();
  await assert.rejects(async () => { for await (const _ of client.follow({ signal: ended })); }, { name: "AbortError" });
});

test("deliveries are verified with the vector of Standard Webhooks", async () => {
  const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", body = '{"test": 2432232314}', now = 1614265330;
  const headers = {
    "Webhook-Id": "msg_p5jXN8AQM9LWM0D4loKWxJek", "Webhook-Timestamp": String(now),
    "Webhook-Signature": "v1,bm9ldHUjKzFob2VudXRob2VodWUzMjRvdWVvdW9ldQo= v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
  };
  for (const given of [headers, new Headers(headers), Object.fromEntries(Object.entries(headers).map(([k, v]) => [k.toLowerCase(), v]))]) {
    assert.deepEqual(await verifyWebhook(secret, given, body, { now: now + 299 }), { test: 2432232314 });
  }
  assert.deepEqual(await verifyWebhook(secret, headers, new TextEncoder().encode(body), { now: now - 299 }), { test: 2432232314 });
  for (const [given, text, at, by = secret] of [
    [headers, body, now + 301], [headers, body, now - 301], [headers, body + " ", now], [{}, body, now],
    [{ ...headers, "Webhook-Id": "msg_other" }, body, now], [{ ...headers, "Webhook-Signature": "v2,g0hM" }, body, now],
    [{ ...headers, "Webhook-Signature": "v1,not base64!" }, body, now], [{ ...headers, "Webhook-Timestamp": "soon" }, body, now],
    [headers, body, now, "whsec_"], [headers, body, now, "whsec_bm90IHRoZSBzZWNyZXQ="],
  ]) {
    await assert.rejects(verifyWebhook(by, given, text, { now: at }), WebhookError);
  }
});
