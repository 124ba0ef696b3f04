// Opens the documentation page of a running server in headless Chromium, wide and narrow, as a reader would.
// Usage: node browser.mjs http://127.0.0.1:PORT [screenshot folder]
import { chromium } from "playwright-core";

const [base, shots] = process.argv.slice(2);
let passed = 0;
let failed = 0;

function check(name, ok, detail = "") {
  ok ? passed++ : failed++;
  console.log(`${ok ? "ok  " : "FAIL"} ${name}${ok ? "" : ` ${detail}`}`);
}

const browser = await chromium.launch({
  executablePath: "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run"],
});
try {
  for (const width of [1280, 390]) {
    const page = await browser.newPage({ viewport: { width, height: 900 } });
    const errors = [];
    page.on("pageerror", (e) => errors.push(e.message));
    page.on("console", (m) => m.type() === "error" && errors.push(m.text()));
    const elsewhere = [];
    page.on("request", (r) => r.url().startsWith(base) || elsewhere.push(r.url()));
    const response = await page.goto(`${base}/docs`);
    check(`${width}px: the page answers 200`, response.status() === 200, String(response.status()));
    const routes = await page.locator("h3 code").allTextContents();
    check(`${width}px: the reads are listed`, routes.includes("GET /v1/{platform}/profile"), routes.join("; "));
    check(`${width}px: the sandbox's words are listed`, (await page.locator("td", { hasText: "not_found" }).count()) > 0);
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
    check(`${width}px: nothing sticks out to the side`, overflow <= 0, `by ${overflow}px`);
    await page.locator("nav a", { hasText: "errors" }).click();
    check(`${width}px: the contents lead to their part`, page.url().endsWith("#errors"), page.url());
    check(`${width}px: no script or console error`, errors.length === 0, errors.join("; "));
    check(`${width}px: nothing is loaded from elsewhere`, elsewhere.length === 0, elsewhere.join(" "));
    if (shots) await page.screenshot({ path: `${shots}/docs-${width}.png` });
    await page.close();
  }
  const page = await browser.newPage();
  await page.goto(`${base}/docs`);
  const [response] = await Promise.all([page.waitForResponse("**/openapi.json"), page.locator("a", { hasText: "openapi.json" }).first().click()]);
  check("the description is one click away", response.status() === 200 && (await response.json()).info.version === "1.0.0");
} finally {
  await browser.close();
}
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);
