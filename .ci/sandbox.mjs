// Opens the documentation of a running sandbox in headless Chromium and makes a call with the key that is filled in.
// Usage: node sandbox.mjs http://127.0.0.1:PORT
import { check, finish, open } from "./page.mjs";

const [base] = process.argv.slice(2);

try {
  const { page, wrong } = await open(`${base}/docs`);
  const call = page.locator("#getProfile");
  await call.locator("button.try").click();
  check("the key of the sandbox is filled in", (await call.locator("input[data-key]").inputValue()).startsWith("sk_test_sandbox"));
  await call.locator("[name=platform]").fill("mock");
  await call.locator("[name=handle]").fill("noura");
  await call.locator("button.send").click();
  await call.locator(".reply pre").waitFor();
  check("and the call is answered", (await call.locator(".reply pre").textContent()).includes('"handle": "noura"'), await call.locator(".reply").textContent());
  check("nothing goes wrong", wrong.length === 0, wrong.join("; "));
} catch (e) {
  check("the checks come to their end", false, e.stack);
} finally {
  await finish();
}
