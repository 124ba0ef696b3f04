// Opens the dashboard of a running server in headless Chromium and does there what an operator does: signs in, makes a key,
// calls the API with it, sees the charge and revokes it, all without a script; then looks at every page as people do.
// Usage: node dashboard.mjs http://127.0.0.1:PORT ADMIN_SECRET [screenshot folder]
import { readFileSync } from "node:fs";
import { audit, browser, check, finish, fits, looksRight, open, tabTo } from "./page.mjs";

const [base, secret, shots] = process.argv.slice(2);
const root = `${base}/dashboard`;
// call reads a profile that no other check reads, which the cache does not have.
const call = (key) => fetch(`${base}/v1/mock/profile?handle=layan`, { headers: { Authorization: `Bearer ${key}` } });

// signIn fills the form of the page it is given, by the keyboard alone: the field has the focus.
async function signIn(page, value) {
  await page.locator("input[name=secret]:focus").waitFor();
  await page.keyboard.type(value);
  sent.add("post /dashboard/login");
  await enter(page);
}

// seenForms are the forms of all pages that were looked at, and sent those that were sent by the keyboard alone.
const seenForms = new Set();
const sent = new Set();
const nameOfForm = ({ method, action, className }) => (className === "filter" ? "filter" : `${method} ${patternOf(action)}`);

// send fills the form that a selector finds and sends it, by the keyboard alone.
async function send(page, form, button, fields = {}) {
  const folded = await page.locator(form).first().evaluate((e, labels) => {
    const inside = [...e.querySelectorAll("details:not([open])")].filter((d) => labels.some((label) => d.textContent.includes(label)));
    return [e.closest("details:not([open])"), ...inside].filter(Boolean).map((d) => d.querySelector("summary").textContent);
  }, Object.keys(fields));
  for (const summary of folded) {
    await tabTo(page, summary);
    await page.keyboard.press("Enter");
  }
  for (const [label, value] of Object.entries(fields)) {
    await tabTo(page, label, form);
    const type = await page.evaluate(() => document.activeElement.type);
    if (type === "checkbox") {
      await page.keyboard.press("Space");
    } else if (type === "file") {
      const [chooser] = await Promise.all([page.waitForEvent("filechooser"), page.keyboard.press("Space")]);
      await chooser.setFiles(value);
    } else {
      if (type !== "select-one") await page.keyboard.press("Control+A");
      if (value === "") await page.keyboard.press("Delete");
      await page.keyboard.type(value);
    }
  }
  await tabTo(page, button, form);
  sent.add(nameOfForm(await page.evaluate(() => ({ method: document.activeElement.form.method, action: document.activeElement.form.action, className: document.activeElement.form.className }))));
  await enter(page);
}

// enter presses Enter, which leads to another page.
async function enter(page) {
  await Promise.all([page.waitForEvent("framenavigated"), page.keyboard.press("Enter")]);
  await page.waitForLoadState();
}

// patternOf returns the address of a page without what names an account, a key or the like: /dashboard/accounts/{}/ledger.
const patternOf = (address) => new URL(address, base).pathname.replace(/\/(accounts|keys|calls|monitors|endpoints|deliveries|bulk|platforms)\/[^/]+/g, "/$1/{}");

// pages are the patterns of all pages of the dashboard, from the table of its routes.
const routes = readFileSync(new URL("../server/dashboard/dashboard.go", import.meta.url), "utf8");
const pages = [...routes.matchAll(/"GET " \+ (Root|account)(?: \+ "([^"]*)")?:/g)]
  .map(([, root, rest = ""]) => ({ Root: "/dashboard", account: "/dashboard/accounts/{}" })[root] + rest.replace(/\{\w+\}/g, "{}"))
  .filter((path) => !/\.(csv|ndjson)$|\{\$\}$/.test(path));

// lookEverywhere follows every link from an address and looks at each page once; it returns the patterns of those it has seen.
async function lookEverywhere(start, who, storageState) {
  const seen = new Map([[patternOf(start), start]]);
  for (const [pattern, address] of seen) {
    const { page } = await open(address, { storageState });
    for (const link of await page.evaluate(() => [...document.querySelectorAll("a[href^='/dashboard']")].map((a) => a.href.replace(/[?#].*/, "")))) {
      if (!seen.has(patternOf(link)) && !/\.(csv|ndjson)$/.test(link)) seen.set(patternOf(link), link);
    }
    for (const form of await page.evaluate(() => [...document.forms].map(({ method, action, className }) => ({ method, action, className })))) seenForms.add(nameOfForm(form));
    await page.close();
    await looksRight(address, `/dashboard/${who}${pattern.replace("/dashboard", "").replaceAll("/{}", "-one")}`, shots, { storageState });
  }
  return [...seen.keys()];
}

try {
  const unknown = await open(root, { javaScriptEnabled: false });
  check("a stranger is led to the login", unknown.page.url() === `${root}/login`, unknown.page.url());
  await unknown.page.close();
  await looksRight(`${root}/login`, "/dashboard/login", shots);

  const anyone = await open(`${base}/status`, { javaScriptEnabled: false });
  check("anyone sees the status page", (await anyone.page.locator("h1").textContent()) === "Status" && anyone.wrong.length === 0, anyone.wrong.join("; "));
  check("it has a feed", (await fetch(`${base}/status.atom`)).headers.get("Content-Type") === "application/atom+xml; charset=utf-8");
  await anyone.page.close();
  await looksRight(`${base}/status`, "/status", shots);

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
  await send(page, "form[action$='/keys']", "Create key", { Name: "shop window" });
  const key = await page.locator("#secret").textContent();
  check("a new key is shown", /^sk_live_\w{38}$/.test(key), key);
  check("the line to paste has it", (await page.locator("#try").textContent()) === `curl -H "Authorization: Bearer ${key}" "${base}/v1/mock/profile?handle=ann"`);
  await fits(page, "/dashboard/new-key", shots);
  await page.goto(account);
  check("its value is not shown again", !(await page.content()).includes(key));

  const answer = await call(key);
  check("it calls the API", answer.status === 200 && (await answer.json()).data.handle === "layan", `status ${answer.status}`);
  await page.reload();
  check("the charge is in the balance", (await balance()) === before - 1, `${before}, then ${await balance()}`);
  const entry = page.locator("section", { hasText: "Latest entries" }).locator("tbody tr").first();
  check("and among the entries", (await entry.textContent()).includes("mock profile"), await entry.textContent());
  check("and in the plot", (await page.locator("svg[role=img] rect").count()) > 0);
  await page.goto(`${root}/calls?operation=profile`);
  check("and the call among the recent ones", (await page.locator("section", { hasText: "Recent calls" }).locator("tbody tr").first().textContent()).includes("profile"));

  // Sorting and filtering are links and a form, and in the address.
  const missing = await fetch(`${base}/v1/mock/profile?handle=not_found`, { headers: { Authorization: `Bearer ${key}` } });
  check("a call that finds nothing is free", missing.status === 404 && missing.headers.get("x-credits-used") === "0", `status ${missing.status}`);
  await page.goto(`${root}/calls`);
  const column = async (n) => (await page.locator("section:has(#calls) tbody tr").evaluateAll((rows, n) => rows.map((row) => row.cells[n].textContent), n));
  await tabTo(page, "Credits");
  await enter(page);
  const most = await column(4);
  check("a table is sorted by the keyboard alone, the highest first", page.url().endsWith("?sort.calls=-credits#calls") && most.length > 1 && most.every((n, i) => i === 0 || Number(most[i - 1]) >= Number(n)), `${page.url()} ${most}`);
  check("its head says so", (await page.locator("th[aria-sort=descending]").textContent()) === "Credits");
  await page.getByRole("link", { name: "Credits" }).click();
  check("the other way round by a second click", (await page.locator("th[aria-sort=ascending]").textContent()) === "Credits" && (await column(4))[0] === "0", page.url());
  await send(page, "form.filter", "Filter", { "Show only rows": "not_found" });
  check("it is filtered, and stays sorted", page.url().includes("sort.calls=credits") && page.url().includes("find.calls=not_found") && (await column(1)).every((text) => text.includes("not_found")), page.url());
  await page.getByRole("link", { name: /^Show all/ }).click();
  check("the filter is taken away", !page.url().includes("find") && (await column(1)).some((text) => text === "200"), page.url());
  const icon = await fetch(base + (await page.locator("link[rel=icon]").getAttribute("href")));
  check("there is a favicon", icon.status === 200 && icon.headers.get("content-type") === "image/svg+xml", `${icon.status}`);

  await send(page, "form[action='/dashboard/calls']", "Show", { Operation: "profile", Status: "200" });
  check("the calls are narrowed down", (await column(1)).every((text) => text === "200"), page.url());
  await page.locator("section", { hasText: "Recent calls" }).locator("tbody a").first().click();

  check("a request has a page with its charge", (await page.locator("main").textContent()).includes("Its entries in the ledger") && (await page.locator("section:has(#entries) tbody tr").count()) === 1);
  const asked = await page.locator("section:has(#providers) tbody tr").allTextContents();
  check("and with the provider that was asked", asked.length === 1 && /^mock1[\d.]+ ms$/.test(asked[0]), asked.join("; "));

  const search = await fetch(`${base}/v1/search?query=quiet+espresso&platforms=mock`, {
    headers: { Authorization: `Bearer ${key}`, "Idempotency-Key": `dashboard-${Date.now()}` },
  });
  await page.getByRole("link", { name: "Searches" }).click();
  const jobs = await page.locator("tbody tr").first().textContent();
  check("a search that is kept is among the jobs", search.status === 200 && /job_\w{8}….*ready.*mock ok/.test(jobs), `status ${search.status}, ${jobs}`);
  await send(page, "form[action='/dashboard/jobs']", "Show", { Account: "nobody" });
  check("the searches of an account can be chosen", (await page.locator("main").textContent()).includes("There is no job"), page.url());
  check("without what was asked", !(await page.content()).includes("espresso"));

  await page.goto(`${base}/docs/platforms/youtube`);
  await page.getByRole("link", { name: "which settings it has" }).click();
  const setting = page.locator("tr", { hasText: "SOCIALDATA_YOUTUBE_API_KEY" });
  check("the operator sees the settings of a platform", (await setting.count()) === 1 && /api key\s*no\s*.*comments/.test(await setting.textContent()), await page.locator("main").textContent());
  check("and the documentation shows none", !(await (await fetch(`${base}/docs/platforms/youtube`)).text()).includes("API_KEY"));

  await page.getByRole("link", { name: "Erasures" }).click();
  const erase = (button, fields) => send(page, "section:has(#forget) form", button, { Platform: "mock", "Handle, id or address": "layan", ...fields });
  await erase("Count", { "Block it": true });
  check("a dry run counts what is kept", (await page.getByRole("status").textContent()).includes("cache entries"), await page.getByRole("status").textContent());
  check("and erases nothing", (await call(key)).status === 200);
  await fits(page, "/dashboard/counted", shots);
  await send(page, "section[role=status] form", "Erase and block it");
  check("what was removed is shown", (await page.getByRole("status").textContent()).includes("What was removed"));
  check("a receipt is listed, without a name", (await page.locator("#receipts ~ div tbody tr").first().textContent()).includes("erased") && !(await page.locator("main").textContent()).includes("layan"));
  check("no address has the name", !page.url().includes("layan"), page.url());
  const withheld = await call(key);
  check("who is blocked is not found", withheld.status === 404, `status ${withheld.status}`);
  await page.getByRole("link", { name: "Verify all of them" }).click();
  check("the receipts are verified", (await page.getByRole("status").textContent()).includes("is missing or changed"));
  await erase("Unblock");
  check("who is unblocked is read again", (await call(key)).status === 200);

  await page.goto(account);
  const row = page.locator("section:has(#keys) tr", { hasText: "shop window" });
  await row.getByRole("link", { name: "Revoke shop window" }).click();
  check("revoking is asked about", (await page.locator("h1").textContent()) === "Revoke shop window?");
  await send(page, "form[action$='/revoke']", "Revoke the key");
  check("a revoked key is marked", (await row.textContent()).includes("revoked"), await row.textContent());
  const refused = await call(key);
  check("a revoked key is refused", refused.status === 401, `status ${refused.status}`);

  // Credits are given, taken back and given back; the books are audited.
  await page.goto(account);
  const request = await page.locator("section:has(#entries) a[title]").first().getAttribute("title");
  const charged = await balance();
  await send(page, "form[action$='/refund']", "Refund", { Request: request, Reason: "sorry" });
  check("a request is refunded", (await balance()) > charged, `${charged}, then ${await balance()}`);
  await send(page, "form[action$='/refund']", "Refund", { Request: request, Reason: "sorry" });
  check("a form that is not accepted is shown again", (await page.locator("#wrong-request").textContent()).includes("given back already") && (await page.locator("form[action$='/refund'] input[name=reason]").inputValue()) === "sorry");
  await fits(page, "/dashboard/not-accepted", shots);
  await page.goto(root);
  await send(page, "form[action='/dashboard/accounts']", "Create account", { Name: "by keyboard", Credits: "50" });
  check("an account is made by the keyboard alone", (await page.locator("h1").textContent()) === "by keyboard" && (await balance()) === 50);
  await send(page, "form[action$='/give']", "Give", { Credits: "7", Reason: "thanks" });
  check("it is given credits", (await balance()) === 57);
  await send(page, "form[action$='/reverse']", "Take back", { Entry: await page.locator("section:has(#entries) tbody td").first().textContent() });
  check("which are taken back", (await balance()) === 50);
  await page.goto(root);
  await send(page, "section:has(#accounts) form[method=get]", "Search", { "Name or id": "keyboard" });
  check("accounts are searched", (await page.locator("section:has(#accounts) tbody tr").count()) === 1, page.url());
  await page.goto(`${root}/audit`);
  await send(page, "form[action$='/audit']", "Audit now");
  check("the books are audited", (await page.getByRole("status").textContent()).includes("in order"), await page.locator("main").textContent());

  // An account signs in with a key of its own that manages it, and sees itself alone.
  await page.goto(account);
  await send(page, "form[action$='/keys']", "Create key", { Name: "own pages", "Credits a day": "500", Manages: true });
  const managing = await page.locator("#secret").textContent();
  const theirs = await browser.newContext({ javaScriptEnabled: false, viewport: { width: 1280, height: 900 } });
  const own = await theirs.newPage();
  await own.goto(root);
  await signIn(own, managing);
  check("a key that manages opens its account", own.url() === account, own.url());
  check("and shows no credits to give", !(await own.content()).includes("Give credits"));
  check("its navigation leads to its own pages", (await own.getByRole("navigation").textContent()).includes("Ledger"));
  await send(own, "form[action$='/keys']", "Create key", { Name: "too dear", "Credits a day": "501" });
  check("a cap above the operator's is refused", (await own.getByRole("alert").textContent()).includes("500 credits at most"), await own.getByRole("alert").textContent());
  await own.goto(account);
  const ownRow = own.locator("section:has(#keys) tr", { hasText: "own pages" });
  await ownRow.getByRole("link", { name: "Change own pages" }).click();
  await send(own, "form[action$='/change']", "Change the key", { "Credits a day": "50" });
  check("a cap is lowered", (await ownRow.textContent()).includes("50 a day"), await ownRow.textContent());
  await ownRow.getByRole("link", { name: "Rotate own pages" }).click();
  await send(own, "form[action$='/rotate']", "Rotate the key", { "Hours of overlap": "1" });
  const rotated = await own.locator("#secret").textContent();
  check("a rotated key has a new value", /^sk_live_\w{38}$/.test(rotated) && rotated !== managing, rotated);
  check("both work during the overlap", (await call(rotated)).status === 200 && (await call(managing)).status === 200);
  await own.getByRole("link", { name: "Ledger" }).click();
  await send(own, "form[action$='/ledger']", "Show", { Platform: "mock" });
  const entries = await own.locator("tbody tr").allTextContents();
  check("the ledger is filtered", entries.length > 0 && entries.every((text) => text.includes("mock")), entries.join("; "));
  const file = await theirs.request.get(base + (await own.getByRole("link", { name: "CSV" }).getAttribute("href")));
  check("the ledger is CSV", (await file.text()).startsWith("seq,time,kind,amount,balance"), (await file.text()).slice(0, 80));
  await own.getByRole("link", { name: "Calls" }).click();
  check("an account sees its calls, and cannot choose another", (await own.locator("tbody tr").count()) > 0 && (await own.getByLabel("Account").count()) === 0);
  await own.getByRole("link", { name: "Searches" }).click();
  check("an account sees its jobs, and cannot choose another", (await own.locator("tbody tr").count()) > 0 && (await own.getByLabel("Account").count()) === 0);

  // "Try it" of the documentation has the key with which it has signed in, in another tab too, and keeps it nowhere.
  const trying = await browser.newContext({ storageState: await theirs.storageState() });
  const docs = await trying.newPage();
  await docs.goto(`${base}/docs`);
  const tried = docs.locator("#getProfile");
  await tried.locator("button.try").click();
  const field = tried.locator("input[data-key]");
  await field.waitFor();
  check("“Try it” has the key of the account that has signed in", (await field.inputValue()) === managing || (await field.inputValue()) === rotated);
  await tried.locator("select[name=platform], input[name=platform]").first().fill("mock");
  await tried.locator("input[name=handle]").fill("noura");
  await tried.locator("button.send").click();
  await tried.locator(".reply pre").waitFor();
  check("and makes calls with it", (await tried.locator(".reply pre").textContent()).includes('"handle": "noura"'), await tried.locator(".reply").textContent());
  const everywhere = await docs.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, location.href, history.state, document.documentElement.outerHTML]));
  check("the key is in no storage, no address and no text of the page", !everywhere.includes(managing) && !everywhere.includes(rotated));
  await docs.goto(root);
  await docs.getByRole("button", { name: "Sign out" }).click();
  await docs.goto(`${base}/docs`);
  await docs.locator("#getProfile button.try").click();
  await docs.locator("#getProfile input[data-key]").waitFor();
  check("after signing out, “Try it” has none", (await docs.locator("#getProfile input[data-key]").inputValue()) === "");
  await trying.close();
  await own.goto(root);
  await signIn(own, rotated);

  // Its monitors: one is made, with the price shown before.
  await own.getByRole("link", { name: "Monitors" }).click();
  const monitors = own.url();
  await send(own, "form[action$='/find']", "Show what can be watched", { "Web address": "https://mock.example/@ann" });
  check("the price is shown before a monitor is made", (await own.locator("main").textContent()).includes("every 6h: 120 credits"), await own.locator("main").textContent());
  check("and the address is not part of a URL", !own.url().includes("ann"), own.url());
  await fits(own, "/dashboard/found", shots);
  await tabTo(own, "every 6h"); // the one that is chosen
  await own.keyboard.press("ArrowDown");
  await send(own, "form[action$='/monitors']", "Make the monitor");
  await own.getByRole("heading", { name: "Monitor mock-profile-ann" }).waitFor();
  const monitor = own.url();
  check("a monitor is made by the keyboard alone", /Every\s*24h/.test(await own.locator("main").textContent()), await own.locator("main").textContent());
  await send(own, "form[action$='/pause']", "Pause");
  check("it is paused", (await own.locator("main .state").textContent()) === "paused");
  await send(own, "form[action$='/resume']", "Resume");
  check("it is resumed", (await own.locator("main .state").textContent()) === "active");
  await send(own, "form[action$='/feed']", "Make a feed");
  const feed = await own.locator("#atom").textContent();
  check("its feed has an address", (await (await fetch(feed)).text()).includes("http://www.w3.org/2005/Atom"), feed);
  await fits(own, "/dashboard/feed", shots);
  await own.goto(monitor);
  check("which is not shown again", !(await own.content()).includes(feed));
  await send(own, "form[action$='/feed/end']", "End its feed");
  check("a feed is ended", (await fetch(feed)).status === 404);
  for (let i = 0; i < 50 && !(await own.locator("main").textContent()).includes("followers"); i++) await own.reload();
  check("its numbers are shown", (await own.locator("main").textContent()).includes("followers"));
  await own.getByRole("link", { name: "Changes", exact: true }).click();
  await send(own, "form[action$='/changes']", "Show", { Type: "ready" });
  check("its changes are listed", (await own.locator("tbody tr").allTextContents()).every((text) => text.includes("ready")) && (await own.locator("tbody tr").count()) > 0);
  await own.getByRole("link", { name: "Endpoints" }).click();
  const endpoints = own.url();
  await send(own, "form[action$='/endpoints']", "Make the endpoint", { Name: "hook", URL: `${base}/hook`, Types: "news" });
  check("what is wrong with an endpoint is said beside its field", (await own.locator("#wrong-types").textContent()).includes("types must be of") && (await own.getByLabel("URL").inputValue()) === `${base}/hook`);
  await fits(own, "/dashboard/endpoint-wrong", shots);
  await send(own, "form[action$='/endpoints']", "Make the endpoint", { Types: "" });
  check("the secret of an endpoint is shown", (await own.locator("#secret").textContent()).startsWith("whsec_"));
  await fits(own, "/dashboard/secret", shots);
  const endpoint = `${endpoints}/hook`;
  await own.goto(endpoint);
  check("and is not shown again", (await own.locator("#secret").count()) === 0);
  await send(own, "form[action$='/test']", "Send a test");
  check("the result of a test is shown", (await own.getByRole("status").textContent()).includes("not accepted"), await own.getByRole("status").textContent());

  await fits(own, "/dashboard/tested", shots);
  await send(own, "form[action$='/secret']", "New secret");
  check("an endpoint gets a new secret", (await own.locator("#secret").textContent()).startsWith("whsec_"));
  await own.goto(account);
  await send(own, "form[action$='/keys']", "Create key", { Name: "for a day", "Credits a day": "5" });
  await own.goto(account);
  await own.getByRole("link", { name: "Revoke for a day" }).click();
  await send(own, "form[action$='/revoke']", "Revoke the key");
  await own.goto(endpoint);
  for (let i = 0; i < 50 && !(await own.getByRole("button", { name: /^Send again/ }).count()); i++) await own.reload();
  await send(own, "form[action$='/again']", "Send again");
  check("a delivery is sent again", own.url() === endpoint && /key.revoked/.test(await own.locator("section:has(#deliveries)").textContent()), own.url());

  // A bulk job is started from a pasted list and from a file.
  await own.getByRole("link", { name: "Bulk jobs" }).click();
  const bulk = own.url();
  const bulkForm = "form[action$='/bulk']";
  await send(own, bulkForm, "Start the job", { "Name of the job": "pasted", "What to read": "https://mock.example/@ann\nhttps://mock.example/@noura\nnowhere", "Credits that": "many" });
  check("what is wrong with a bulk job is said beside its field", (await own.locator("#wrong-max_credits").textContent()).includes("whole number") && (await own.getByLabel("What to read").inputValue()).endsWith("nowhere"));
  await fits(own, "/dashboard/bulk-wrong", shots);
  await send(own, bulkForm, "Start the job", { "Credits that": "" });
  check("lines that are refused are listed", /2 lines accepted, 1 refused[^]*line 3: /.test(await own.getByRole("status").textContent()), await own.locator("main").textContent());
  await fits(own, "/dashboard/bulk-refused", shots);
  await own.goto(`${bulk}/pasted`);
  for (let i = 0; i < 50 && !(await own.locator("main").textContent()).includes("100 % of 2 lines"); i++) await own.reload();
  check("a bulk job is worked, and its first results are shown", (await own.locator("section:has(#results) tbody tr").count()) === 2, await own.locator("main").textContent());
  const results = await theirs.request.get(`${bulk}/pasted/results.ndjson`);
  check("its results are NDJSON", (await results.text()).trim().split("\n").map((line) => JSON.parse(line).line).join() === "1,2", await results.text());
  await own.goto(bulk);
  await send(own, bulkForm, "Start the job", {
    "Name of the job": "limited", "Credits that": "1", "Skip the cache": true,
    "Or a file": { name: "reads.jsonl", mimeType: "application/x-ndjson", buffer: Buffer.from('{"platform": "mock", "operation": "profile", "params": {"handle": "dear"}}\n') },
  });
  for (let i = 0; i < 50 && !(await own.locator("main").textContent()).includes("limit of credits"); i++) await own.reload();
  check("a bulk job that waits says for what", (await own.locator("main").textContent()).includes("It has reached its own limit of credits"), await own.locator("main").textContent());
  const nothing = await own.goto(`${root}/nothing`);
  await fits(own, "/dashboard/nothing", shots);
  check("a page that there is not is one", nothing.status() === 404 && (await own.getByRole("alert").isVisible()));
  const seen = await lookEverywhere(account, "own", await theirs.storageState());
  check("an account finds no page of the operator", !seen.some((path) => /audit|erasures|platforms/.test(path)), seen.join(" "));
  seen.push(...await lookEverywhere(root, "operator", await context.storageState()));
  const unseen = pages.filter((path) => !seen.includes(path));
  check("every page is linked, and was looked at", pages.length >= 19 && unseen.length === 0, unseen.join(" "));

  await own.goto(`${bulk}/limited`);
  await own.getByRole("link", { name: "Stop", exact: true }).click();
  await send(own, "form[action$='/stop']", "Stop the job");
  check("a bulk job is stopped", (await own.locator("main .state").first().textContent()) === "ended");
  await own.goto(endpoint);
  await own.getByRole("link", { name: "Remove" }).click();
  await send(own, "form[action$='/remove']", "Remove the endpoint");
  check("an endpoint is removed", !(await own.locator("main").textContent()).includes("/hook"));
  await own.goto(monitor);
  await own.getByRole("link", { name: "Remove" }).click();
  await send(own, "form[action$='/remove']", "Remove the monitor");
  check("a monitor is removed", (await own.locator("tbody tr").count()) === 0, own.url());

  // With the script, keys and ids can be copied by a button.
  const storageState = await context.storageState();
  const copying = await open(account, { storageState, bypassCSP: true, permissions: ["clipboard-read", "clipboard-write"] });
  const copied = () => copying.page.evaluate(() => navigator.clipboard.readText());
  await copying.page.getByText("New key").click();
  await copying.page.getByLabel("Name").fill("copied");
  await copying.page.getByRole("button", { name: "Create key" }).click();
  const made = await copying.page.locator("#secret").textContent();
  await copying.page.locator("[data-copy=secret]").click();
  check("a button copies a key", (await copied()) === made);
  await audit(copying.page, "/dashboard/new-key");
  await copying.page.goto(`${root}/calls`);
  const id = copying.page.locator("[data-text]").first();
  await id.click();
  check("a button copies an id, which is shown shortened", (await copied()) === (await id.getAttribute("data-text")) && (await copied()).length > 16, await copied());
  check("nothing goes wrong on the way", copying.wrong.length === 0, copying.wrong.join("; "));
  await copying.page.close();

  await page.goto(root);
  await send(page, "form[action$='/logout']", "Sign out");
  const mouse = [...seenForms].filter((form) => !sent.has(form));
  check("every form is sent by the keyboard alone", seenForms.size >= 25 && mouse.length === 0, `${seenForms.size}: ${mouse.join(", ")}`);
  await page.goto(account);
  check("signing out ends the session", page.url() === `${root}/login`, page.url());
  const stale = await open(account, { storageState, javaScriptEnabled: false });
  check("also for whoever kept its cookie", stale.page.url() === `${root}/login`, stale.page.url());
} catch (e) {
  check("the checks come to their end", false, e.stack);
} finally {
  await finish();
}
