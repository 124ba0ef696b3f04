// What the checks in a browser share: pages of a running server in headless Chromium, and what is said of them.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { chromium } from "playwright-core";

const rules = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
let passed = 0;
let failed = 0;

// check says whether something is as it should be, and counts it.
export function check(name, ok, detail = "") {
  ok ? passed++ : failed++;
  console.log(`${ok ? "ok  " : "FAIL"} ${name}${ok ? "" : ` ${detail}`}`);
}

// finish closes the browser and ends with status 1 when something was not as it should be.
export async function finish() {
  await browser.close();
  console.log(`${passed} passed, ${failed} failed`);
  process.exit(failed ? 1 : 0);
}

export const browser = await chromium.launch({
  executablePath: "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run"],
});

// open returns a page that notes what goes wrong on it: errors of scripts and policies, and requests to elsewhere.
export async function open(address, options) {
  const { origin } = new URL(address);
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 }, ...options });
  const wrong = [];
  page.on("pageerror", (e) => wrong.push(e.message));
  page.on("console", (m) => m.type() === "error" && wrong.push(m.text()));
  await page.route((url) => url.origin !== origin && url.protocol !== "data:", (route) => {
    wrong.push(`asked for ${route.request().url()}`);
    return route.abort();
  });
  const response = await page.goto(address);
  if (response.status() !== 200) wrong.push(`status ${response.status()}`);
  return { page, wrong };
}

export const views = [{ colorScheme: "light", width: 1280 }, { colorScheme: "dark", width: 1280 }, { colorScheme: "light", width: 390 }, { colorScheme: "dark", width: 390 }];

const unfold = (page) => page.evaluate(() => document.querySelectorAll("details").forEach((d) => (d.open = true)));

// looksRight checks a page in every view: nothing sticks out, nothing goes wrong, and axe finds nothing.
export async function looksRight(address, name, shots, options) {
  for (const { colorScheme, width } of views) {
    const view = `${name} ${colorScheme} ${width}px`;
    const { page, wrong } = await open(address, { ...options, colorScheme, viewport: { width, height: 900 } });
    if (shots) await page.screenshot({ path: `${shots}/${name.replaceAll("/", "-").replace(/^-/, "")}-${colorScheme}-${width}.png` });
    const sticking = () => page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
    check(`${view}: nothing sticks out to the side`, (await sticking()) <= 0, `by ${await sticking()}px`);
    await unfold(page);
    check(`${view}: nor when everything is open`, (await sticking()) <= 0, `by ${await sticking()}px`);
    check(`${view}: nothing goes wrong`, wrong.length === 0, wrong.join("; "));
    await page.close();
  }
  // The two that differ most: the rules look at structure, which is one, and at colours, which are two.
  for (const { colorScheme, width } of [views[0], views[3]]) {
    const { page } = await open(address, { ...options, colorScheme, viewport: { width, height: 900 }, bypassCSP: true }); // axe comes from outside
    await unfold(page);
    await audit(page, `${name} ${colorScheme} ${width}px`);
    await page.close();
  }
}

// audit checks that axe finds nothing on a page, which must have been opened with bypassCSP.
export async function audit(page, name) {
  await page.evaluate(rules);
  const { violations, passes } = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
  const told = violations.map((v) => `${v.id} (${v.nodes.length}): ${v.nodes[0].html.slice(0, 200)}`).join("; ");
  check(`${name}: axe finds nothing`, violations.length === 0 && passes.length > 10, told);
}
