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

// looksRight checks the page of an address: it fits in every view, nothing goes wrong, the keyboard reaches everything, and
// axe finds nothing.
export async function looksRight(address, name, shots, options) {
  const { page, wrong } = await open(address, options);
  await fits(page, name, shots);
  await reachable(page, name); // with everything unfolded
  check(`${name}: nothing goes wrong`, wrong.length === 0, wrong.join("; "));
  await page.close();
  // The two that differ most: the rules look at structure, which is one, and at colours, which are two.
  for (const { colorScheme, width } of [views[0], views[3]]) {
    const { page } = await open(address, { ...options, colorScheme, viewport: { width, height: 900 }, bypassCSP: true }); // axe comes from outside
    await unfold(page);
    await audit(page, `${name} ${colorScheme} ${width}px`);
    await page.close();
  }
}

// fits checks a page that is open in every view, as it is and with everything unfolded: nothing sticks out to the side, every
// table is as wide and as long as its page, every cell has a head, and every box is beside its label.
export async function fits(page, name, shots) {
  const before = page.viewportSize();
  for (const unfolded of [false, true]) {
    if (unfolded) await unfold(page);
    for (const { colorScheme, width } of views) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height: 900 });
      const wrong = await page.evaluate((strict) => {
        const found = [];
        const named = (e) => e.getAttribute("aria-label") ?? e.getAttribute("aria-labelledby") ?? e.textContent.trim().slice(0, 40);
        const over = document.documentElement.scrollWidth - window.innerWidth;
        if (over > 0) found.push(`the page sticks out by ${over}px`);
        for (const box of strict ? document.querySelectorAll("main .scroll") : []) {
          if (box.scrollWidth > box.clientWidth + 1) found.push(`the table ${named(box)} sticks out by ${box.scrollWidth - box.clientWidth}px`);
          if (box.scrollHeight > box.clientHeight + 1) found.push(`the table ${named(box)} scrolls in a box`);
        }
        const shown = (row) => [...row.cells].filter((cell) => cell.checkVisibility()).length;
        for (const table of document.querySelectorAll("table")) {
          const heads = table.tHead ? shown(table.tHead.rows[0]) : 0;
          for (const row of [...table.tBodies].flatMap((body) => [...body.rows])) if (heads && row.checkVisibility() && shown(row) !== heads) found.push(`${shown(row)} cells under ${heads} heads: ${row.textContent.slice(0, 60)}`);
        }
        for (const button of document.querySelectorAll("button, .button")) {
          const { width, height } = button.getBoundingClientRect();
          if (button.checkVisibility() && height > 4 * width) found.push(`the button ${named(button)} is broken into letters`);
        }
        for (const input of document.querySelectorAll("label > input:is([type=checkbox], [type=radio])")) {
          const [box, label] = [input.getBoundingClientRect(), input.parentElement.getBoundingClientRect()];
          if (input.checkVisibility() && (box.height === 0 || box.top < label.top - 1 || box.bottom > label.bottom + 1 || label.width < box.width + 20)) found.push(`a box is not beside its label ${input.parentElement.textContent}`);
        }
        return found;
      }, name.startsWith("/dashboard"));
      check(`${name} ${colorScheme} ${width}px${unfolded ? ", unfolded" : ""}: everything fits`, wrong.length === 0, wrong.slice(0, 3).join("; "));
      if (shots && !unfolded) await page.screenshot({ path: `${shots}/${name.replaceAll("/", "-").replace(/^-/, "")}-${colorScheme}-${width}.png`, fullPage: name.startsWith("/dashboard") });
    }
  }
  await page.emulateMedia({ colorScheme: null });
  await page.setViewportSize(before);
}

// reachable checks that the keyboard alone reaches all that can be operated on a page, and that it shows where it is.
export async function reachable(page, name) {
  const count = await page.evaluate(() => {
    const all = [...document.querySelectorAll("a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex='0']")];
    window.operable = all.filter((e) => e.checkVisibility({ visibilityProperty: true }) && !e.disabled && !(e.type === "radio" && !e.checked));
    return window.operable.length;
  });
  const unreached = new Set(Array(count).keys());
  let unseen = "";
  for (let i = 0; i < count + 10 && unreached.size; i++) {
    await page.keyboard.press("Tab");
    const [at, seen, text] = await page.evaluate(() => {
      const e = document.activeElement;
      return [window.operable.indexOf(e), getComputedStyle(e).outlineStyle !== "none" || e === document.body, e.outerHTML.slice(0, 80)];
    });
    unreached.delete(at);
    if (!seen) unseen ||= text;
  }
  const missing = await page.evaluate((all) => all.map((i) => window.operable[i].outerHTML.slice(0, 80)), [...unreached].slice(0, 3));
  check(`${name}: the keyboard alone reaches everything`, unreached.size === 0, `${unreached.size} of ${count}, such as ${missing.join("; ")}`);
  check(`${name}: and shows where it is`, !unseen, unseen);
}

// tabTo moves the focus with the keyboard alone, to the element whose label or text begins with name, in what the selector
// within finds.
export async function tabTo(page, name, within = "body") {
  for (let i = 0; i < 400; i++) {
    await page.keyboard.press("Tab");
    if (await page.evaluate(([name, within]) => {
      const e = document.activeElement;
      return e.closest(within) && [...(e.labels ?? [])].concat(e).some((of) => of.textContent.trim().startsWith(name));
    }, [name, within])) return;
  }
  throw new Error(`the keyboard does not reach ${name}`);
}

// audit checks that axe finds nothing on a page, which must have been opened with bypassCSP.
export async function audit(page, name) {
  await page.evaluate(rules);
  const { violations, passes } = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
  const told = violations.map((v) => `${v.id} (${v.nodes.length}): ${v.nodes[0].html.slice(0, 200)}`).join("; ");
  check(`${name}: axe finds nothing`, violations.length === 0 && passes.length > 10, told);
}
