// Opens the dashboard of a running server in headless Chromium and does there what an operator does: signs in, makes a key,
// calls the API with it, sees the charge and revokes it, all without a script; then looks at every page as people do.
// Usage: node dashboard.mjs http://127.0.0.1:PORT ADMIN_SECRET [screenshot folder]
import { audit, browser, check, finish, looksRight, open, views } from "./page.mjs";

const [base, secret, shots] = process.argv.slice(2);
const root = `${base}/dashboard`;
const call = (key) => fetch(`${base}/v1/mock/profile?handle=noura`, { headers: { Authorization: `Bearer ${key}` } });

// signIn fills the form of the page it is given.
async function signIn(page, value) {
  await page.getByLabel("Admin secret").fill(value);
  await page.getByRole("button", { name: "Sign in" }).click();
}

try {
  const unknown = await open(root, { javaScriptEnabled: false });
  check("a stranger is led to the login", unknown.page.url() === `${root}/login`, unknown.page.url());
  await unknown.page.close();
  await looksRight(`${root}/login`, "/dashboard/login", shots);

  const context = await browser.newContext({ javaScriptEnabled: false, viewport: { width: 1280, height: 900 } });
  const page = await context.newPage();
  await page.goto(root);
  await signIn(page, "admin_guessed");
  check("a wrong secret is refused", await page.getByRole("alert").isVisible());
  await signIn(page, secret);
  check("the printed secret opens the dashboard", (await page.locator("h1").textContent()) === "Overview", await page.locator("h1").textContent());

  check("it shows what was charged beside what it took", await page.getByRole("heading", { name: "Credits charged and spent with vendors" }).isVisible());
  await page.getByRole("link", { name: "default" }).first().click();
  const account = page.url();
  const balance = async () => Number((await page.locator(".big").textContent()).replace(/\D/g, ""));
  const before = await balance();
  await page.getByText("New key").click();
  await page.getByLabel("Name").fill("shop window");
  await page.getByRole("button", { name: "Create key" }).click();
  const key = await page.locator("#secret").textContent();
  check("a new key is shown", /^sk_live_\w{38}$/.test(key), key);
  check("the line to paste has it", (await page.locator("#try").textContent()) === `curl -H "Authorization: Bearer ${key}" "${base}/v1/mock/profile?handle=ann"`);
  if (shots) await page.screenshot({ path: `${shots}/dashboard-key.png` });
  await page.goto(account);
  check("its value is not shown again", !(await page.content()).includes(key));

  const answer = await call(key);
  check("it calls the API", answer.status === 200 && (await answer.json()).data.handle === "noura", `status ${answer.status}`);
  await page.reload();
  check("the charge is in the balance", (await balance()) === before - 1, `${before}, then ${await balance()}`);
  const entry = page.locator("section", { hasText: "Latest entries" }).locator("tbody tr").first();
  check("and among the entries", (await entry.textContent()).includes("mock profile"), await entry.textContent());
  check("and in the plot", (await page.locator("svg[role=img] rect").count()) > 0);
  await page.goto(`${root}/calls?operation=profile`);
  check("and the call among the recent ones", (await page.locator("section", { hasText: "Recent calls" }).locator("tbody tr").first().textContent()).includes("profile"));

  const search = await fetch(`${base}/v1/search?query=quiet+espresso&platforms=mock`, {
    headers: { Authorization: `Bearer ${key}`, "Idempotency-Key": `dashboard-${Date.now()}` },
  });
  await page.getByRole("link", { name: "Jobs" }).click();
  const jobs = await page.locator("tbody tr").first().textContent();
  check("a search that is kept is among the jobs", search.status === 200 && /job_\w{26}.*collected.*mock ok/.test(jobs), `status ${search.status}, ${jobs}`);
  check("without what was asked", !(await page.content()).includes("espresso"));

  await page.goto(`${base}/docs/platforms/youtube`);
  await page.getByRole("link", { name: "which settings it has" }).click();
  const setting = page.locator("tr", { hasText: "SOCIALDATA_YOUTUBE_API_KEY" });
  check("the operator sees the settings of a platform", (await setting.count()) === 1 && /api key\s*no\s*.*comments/.test(await setting.textContent()), await page.locator("main").textContent());
  check("and the documentation shows none", !(await (await fetch(`${base}/docs/platforms/youtube`)).text()).includes("API_KEY"));

  await page.getByRole("link", { name: "Erasures" }).click();
  await page.getByLabel("Platform").selectOption("mock");
  await page.getByLabel("Handle, id or address").fill("noura");
  await page.getByRole("checkbox").check();
  await page.getByRole("button", { name: "Count" }).click();
  check("a dry run counts what is kept", (await page.getByRole("status").textContent()).includes("cache entries"), await page.getByRole("status").textContent());
  check("and erases nothing", (await call(key)).status === 200);
  await page.getByRole("button", { name: "Erase and block it" }).click();
  check("what was removed is shown", (await page.getByRole("status").textContent()).includes("What was removed"));
  check("a receipt is listed, without a name", (await page.locator("#receipts ~ div tbody tr").first().textContent()).includes("erased") && !(await page.locator("main").textContent()).includes("noura"));
  check("no address has the name", !page.url().includes("noura"), page.url());
  const withheld = await call(key);
  check("who is blocked is not found", withheld.status === 404, `status ${withheld.status}`);
  await page.getByRole("link", { name: "Verify all of them" }).click();
  check("the receipts are verified", (await page.getByRole("status").textContent()).includes("is missing or changed"));
  await page.getByLabel("Platform").selectOption("mock");
  await page.getByLabel("Handle, id or address").fill("noura");
  await page.getByRole("button", { name: "Unblock" }).click();
  check("who is unblocked is read again", (await call(key)).status === 200);

  await page.goto(account);
  const row = page.locator("tr", { hasText: "shop window" });
  await row.getByRole("link", { name: "Revoke shop window" }).click();
  check("revoking is asked about", (await page.locator("h1").textContent()) === "Revoke shop window?");
  const confirmation = page.url();
  await page.getByRole("button", { name: "Revoke the key" }).click();
  check("a revoked key is marked", (await row.textContent()).includes("revoked"), await row.textContent());
  const refused = await call(key);
  check("a revoked key is refused", refused.status === 401, `status ${refused.status}`);

  // An account signs in with a key of its own that manages it, and sees itself alone.
  await page.goto(account);
  await page.getByText("New key").click();
  await page.getByLabel("Name").fill("own pages");
  await page.getByLabel("Manages the account").check();
  await page.getByLabel("Credits a day").fill("500");
  await page.getByRole("button", { name: "Create key" }).click();
  const managing = await page.locator("#secret").textContent();
  const theirs = await browser.newContext({ javaScriptEnabled: false, viewport: { width: 1280, height: 900 } });
  const own = await theirs.newPage();
  await own.goto(root);
  await signIn(own, managing);
  check("a key that manages opens its account", own.url() === account, own.url());
  check("and shows no credits to give", !(await own.content()).includes("Give credits"));
  check("its navigation leads to its own pages", (await own.getByRole("navigation").textContent()).includes("Ledger"));
  await own.getByText("New key").click();
  await own.getByLabel("Name").fill("too dear");
  await own.getByLabel("Credits a day").fill("501");
  await own.getByRole("button", { name: "Create key" }).click();
  check("a cap above the operator's is refused", (await own.getByRole("alert").textContent()).includes("500 credits at most"), await own.getByRole("alert").textContent());
  await own.goto(account);
  const ownRow = own.locator("tr", { hasText: "own pages" });
  await ownRow.getByRole("link", { name: "Change own pages" }).click();
  const changing = own.url();
  await own.getByLabel("Credits a day").fill("50");
  await own.getByRole("button", { name: "Change the key" }).click();
  check("a cap is lowered", (await ownRow.textContent()).includes("50 a day"), await ownRow.textContent());
  await ownRow.getByRole("link", { name: "Rotate own pages" }).click();
  const rotating = own.url();
  await own.getByRole("button", { name: "Rotate the key" }).click();
  const rotated = await own.locator("#secret").textContent();
  check("a rotated key has a new value", /^sk_live_\w{38}$/.test(rotated) && rotated !== managing, rotated);
  check("both work during the overlap", (await call(rotated)).status === 200 && (await call(managing)).status === 200);
  await own.getByRole("link", { name: "Ledger" }).click();
  const ledger = own.url();
  await own.getByLabel("Platform").fill("mock");
  await own.getByRole("button", { name: "Show" }).click();
  const entries = await own.locator("tbody tr").allTextContents();
  check("the ledger is filtered", entries.length > 0 && entries.every((text) => text.includes("mock")), entries.join("; "));
  const file = await theirs.request.get(base + (await own.getByRole("link", { name: "CSV" }).getAttribute("href")));
  check("the ledger is CSV", (await file.text()).startsWith("seq,time,kind,amount,balance"), (await file.text()).slice(0, 80));
  await own.getByRole("link", { name: "Calls" }).click();
  check("an account sees its calls, and cannot choose another", (await own.locator("tbody tr").count()) > 0 && (await own.getByLabel("Account").count()) === 0);
  await own.getByRole("link", { name: "Jobs" }).click();
  check("an account sees its jobs, and cannot choose another", (await own.locator("tbody tr").count()) > 0 && (await own.getByLabel("Account").count()) === 0);
  const nothing = await own.goto(`${root}/nothing`);
  check("a page that there is not is one", nothing.status() === 404 && (await own.getByRole("alert").isVisible()));
  const theirState = await theirs.storageState();
  for (const [name, address] of [["/dashboard/own", account], ["/dashboard/change", changing], ["/dashboard/rotate", rotating], ["/dashboard/ledger", ledger], ["/dashboard/own-jobs", `${root}/jobs`]])
    await looksRight(address, name, shots, { storageState: theirState });

  const storageState = await context.storageState();
  for (const [name, address] of [["/dashboard", root], ["/dashboard/account", account], ["/dashboard/jobs", `${root}/jobs`], ["/dashboard/platform", `${root}/platforms/youtube`], ["/dashboard/erasures", `${root}/erasures`], ["/dashboard/revoke", confirmation]])
    await looksRight(address, name, shots, { storageState });

  // The page of a new key is the answer to a form, so that each view makes a key.
  for (const { colorScheme, width } of views) {
    const view = `/dashboard/key ${colorScheme} ${width}px`;
    const { page, wrong } = await open(account, {
      storageState, colorScheme, viewport: { width, height: 900 }, bypassCSP: true, permissions: ["clipboard-read", "clipboard-write"],
    });
    await page.getByText("New key").click();
    await page.getByLabel("Name").fill(`view ${colorScheme} ${width}`);
    await page.getByRole("button", { name: "Create key" }).click();
    const made = await page.locator("#secret").textContent();
    await page.waitForLoadState();
    const sticking = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
    check(`${view}: nothing sticks out to the side`, sticking <= 0, `by ${sticking}px`);
    await page.locator("[data-copy=secret]").click();
    check(`${view}: the button copies the key`, (await page.evaluate(() => navigator.clipboard.readText())) === made);
    if (shots) await page.screenshot({ path: `${shots}/dashboard-key-${colorScheme}-${width}.png` });
    await audit(page, view);
    check(`${view}: nothing goes wrong`, wrong.length === 0, wrong.join("; "));
    await page.close();
  }

  await page.goto(root);
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.goto(account);
  check("signing out ends the session", page.url() === `${root}/login`, page.url());
  const stale = await open(account, { storageState, javaScriptEnabled: false });
  check("also for whoever kept its cookie", stale.page.url() === `${root}/login`, stale.page.url());
} catch (e) {
  check("the checks come to their end", false, e.stack);
} finally {
  await finish();
}
