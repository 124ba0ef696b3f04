// Makes the calls of ../scenario.json to a running sandbox and checks what they are expected to answer.
// Usage: node test/scenario.mjs http://127.0.0.1:PORT KEY, after npm run build
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { Problem, socialdata } from "socialdata";

const [baseUrl, key] = process.argv.slice(2);
const steps = JSON.parse(readFileSync(new URL("../../scenario.json", import.meta.url)));

/** Makes the call of a step and returns its answer, or its pages. */
async function call({ path, method, params, body, pages, sandbox }) {
  const client = socialdata({ baseUrl, key, fetch: (request) => {
    if (sandbox) request.headers.set("X-Sandbox", sandbox);
    return fetch(request);
  } });
  const init = { params: { path: {}, query: {} } };
  for (const [name, value] of Object.entries(params)) init.params[path.includes(`{${name}}`) ? "path" : "query"][name] = value;
  if (method) return [await client.manage(method, path, body ? { ...init, body } : init)];
  if (!pages) return [await client.get(path, init)];
  const read = [];
  for await (const page of client.pages(path, init)) if (read.push(page) === pages) break;
  return read;
}

for (const step of steps) {
  if (step.problem) {
    await assert.rejects(call(step), (e) => e instanceof Problem && e.code === step.problem.code && e.status === step.problem.status, step.name);
    continue;
  }
  const answers = await call(step);
  for (const answer of answers) {
    for (const [path, want] of Object.entries(step.want)) {
      const got = path.split(".").reduce((at, name) => at?.[name], answer) ?? null;
      if (want === "*") assert.notEqual(got, null, `${step.name}: ${path}`);
      else assert.deepEqual(got, want, `${step.name}: ${path}`);
    }
  }
  if (!step.pages) continue;
  const ids = answers.flatMap((page) => page.data.map((object) => object.id));
  assert.ok(answers.length === step.pages && new Set(ids).size === ids.length, `${step.name}: ${answers.length} pages`);
}
console.log(`TypeScript: ${steps.length} steps of the scenario`);
