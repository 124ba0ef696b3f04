// Runs the calls that the documentation of a running server shows, in each of its languages, as they stand there.
// Usage: node snippets.mjs http://127.0.0.1:PORT KEY, in a checkout
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const [base, key] = process.argv.slice(2);
const page = await (await fetch(`${base}/docs`)).text();
const named = { lt: "<", gt: ">", amp: "&", quot: '"', apos: "'" };
const plain = (html) => html.replace(/<[^>]+>/g, "")
  .replace(/&(?:#(\d+)|(\w+));/g, (whole, code, name) => (code ? String.fromCodePoint(code) : named[name] ?? whole));
const calls = [...page.matchAll(/<section class="op call" id="(\w+)"[^>]*>(.*?)<\/section>/gs)].map(([, id, html]) => ({
  id,
  ...Object.fromEntries([...html.matchAll(/<pre class="(\w+)"><code>(.*?)<\/code><\/pre>/gs)].map(([, name, code]) => [name, plain(code)])),
}));
const env = { ...process.env, SOCIALDATA_KEY: key, PYTHONPATH: new URL("../../clients/python/src", import.meta.url).pathname, PYTHONDONTWRITEBYTECODE: "1" };
const scratch = mkdtempSync(join(tmpdir(), "snippets-"));
let ran = 0;
// Only a search knows the id of a job, and only an account the ids of its keys and deliveries; an endpoint, the monitor of a feed and the bulk
// job of results must exist.
// These are compiled, and not run.
const unknowable = ["getJob", "listHistory", "listBulkResults", "changeKey", "rotateKey", "revokeKey", "deliverAgain", "putEndpoint", "newEndpointSecret",
  "testEndpoint", "endEndpoint", "putFeed", "endFeed"];
const typescript = new URL("../../clients/typescript", import.meta.url).pathname;

function run(id, name, command, args, good) {
  let out;
  try {
    out = execFileSync(command, args, { env, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
  } catch (e) {
    throw new Error(`${id}, ${name}: ${e.stderr}${e.stdout}`);
  }
  if (!good(out)) throw new Error(`${id}, ${name}: ${out}`);
  ran++;
}

try {
  mkdirSync(join(scratch, "node_modules"));
  symlinkSync(typescript, join(scratch, "node_modules", "socialdata"));
  const offered = calls.filter((c) => c.go); // the others are the operator's
  const checked = offered.map(({ id, ts }) => `async function ${id}() {\n${ts.replace(/^import.*$/m, "")}\n}\n`);
  writeFileSync(join(scratch, "all.ts"), `import { socialdata } from "socialdata";\n${checked.join("")}`);
  run("all", "TypeScript", `${typescript}/node_modules/.bin/tsc`, ["--noEmit", "--strict", "--target", "es2022", "--module", "nodenext",
    "--moduleResolution", "nodenext", "--types", "node", "--typeRoots", `${typescript}/node_modules/@types`, join(scratch, "all.ts")], () => true);
  const known = offered.filter((c) => !unknowable.includes(c.id));
  for (const { id, curl } of known) {
    run(id, "curl", "sh", ["-c", curl.replace("curl", "curl -sSf")], (out) => !out || JSON.parse(out));
    await sleep(100); // the limit of a key is 10 calls a second
  }
  for (const { id, ts } of known.filter((c) => c.id !== "getEvent")) { // its path is that of one platform, which is not read here
    writeFileSync(join(scratch, "one.mjs"), ts.replace("SOCIALDATA_KEY!", "SOCIALDATA_KEY"));
    run(id, "TypeScript", "node", [join(scratch, "one.mjs")], (out) => out.length > 3 || !ts.includes("answer"));
    await sleep(100);
  }
  for (const { id, py } of known) {
    run(id, "Python", "/usr/bin/python3", ["-c", py], (out) => out.length > 3 || !py.includes("answer"));
    await sleep(100);
  }
  const guide = page.match(/Every page, Python<\/p><pre><code>(.*?)<\/code>/s)[1];
  run("cursors", "Python", "/usr/bin/python3", ["-c", plain(guide)], (out) => out.split("\n").length > 20);
  const list = known.map((c) => `{"${c.id}", ${c.id}}`);
  const go = offered.map(({ id, go: body }) => `func ${id}(ctx context.Context) error {\n${body}${body.includes("answer") ? "\nreturn nil" : ""}\n}\n`);
  writeFileSync(join(scratch, "main.go"), `package main
import (
	"context"; "fmt"; "log"; "os"; "strings"; "time"
	"github.com/socialdata/socialdata"; "github.com/socialdata/socialdata/accounts"; "github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/remote"; "github.com/socialdata/socialdata/schema"
)
var _ = []func(context.Context) error{${unknowable.join(", ")}}
var _ platform.ID
func main() {
	for _, c := range []struct{ name string; call func(context.Context) error }{${list.join(", ")}} {
		if err := c.call(context.Background()); err != nil {
			log.Fatalf("%s: %v", c.name, err)
		}
		time.Sleep(100 * time.Millisecond)
	}
}
${go.join("")}`);
  run("all", "Go", "go", ["run", join(scratch, "main.go")], (out) => out.length > 1000);
} finally {
  rmSync(scratch, { recursive: true });
}
if (calls.length < 60) throw new Error(`${calls.length} operations are shown`);
console.log(`the calls of ${calls.length} operations run as they are shown, in four languages`);
