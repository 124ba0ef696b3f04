// Opens the documentation of a running server in headless Chromium, as readers would: wide and narrow, in light and in
// dark, with and without script, with a screen reader's eyes.
// Usage: node browser.mjs http://127.0.0.1:PORT KEY [screenshot folder]
import { check, finish, looksRight, open } from "./page.mjs";

const [base, key, shots] = process.argv.slice(2);

try {
  for (const path of ["/docs", "/docs/platforms", "/docs/fields"]) await looksRight(base + path, path, shots);

  {
    const { page, wrong } = await open(`${base}/docs`, { javaScriptEnabled: false });
    const calls = page.locator("section.call");
    check("without script every operation is there", (await calls.count()) > 40);
    check("without script the call of each is shown", (await page.locator("pre.curl:visible").count()) === (await calls.count()));
    await page.locator("#listPosts label", { hasText: "Python" }).click();
    check("without script a language can be chosen", await page.locator("#listPosts pre.py").isVisible());
    check("without script nothing is shown that needs it", (await page.locator(".try:visible, search:visible").count()) === 0);
    check("without script nothing goes wrong", wrong.length === 0, wrong.join("; "));
    await page.close();
    const narrow = await open(`${base}/docs`, { javaScriptEnabled: false, viewport: { width: 390, height: 844 } });
    await narrow.page.locator("button.menu").click();
    await narrow.page.locator("#contents a", { hasText: "Rate limits" }).click();
    check("without script the contents open on a narrow page", narrow.page.url().endsWith("#limits"), narrow.page.url());
    await narrow.page.close();
  }

  {
    const { page, wrong } = await open(`${base}/docs`);
    const shown = page.locator("#contents li:not([hidden])");
    await page.keyboard.press("Control+k");
    await page.keyboard.type("playlist tracks");
    check("the search narrows the contents", (await shown.count()) === 0, `${await shown.count()} are left`);
    await page.locator("#find").fill("collection tracks");
    check("the search finds an operation", (await shown.allTextContents()).join() === "collection / tracks", (await shown.allTextContents()).join());
    check("the search says how much it found", (await page.locator(".found").textContent()) === "1 found");
    await page.keyboard.press("Enter");
    check("the search leads there", page.url().endsWith("#listCollectionTracks"), page.url());
    await page.locator("#find").fill("post_id");
    check("the search knows parameters", (await shown.allTextContents()).includes("comments"), (await shown.allTextContents()).join());

    await page.goto(`${base}/docs#not_found`);
    check("the type of a problem leads to its explanation", await page.locator("#not_found h3").isVisible());

    const call = page.locator("#getProfile");
    await call.locator("button.try").click();
    await call.locator("input[type=password]").fill(key);
    await call.locator("input[name=handle]").fill("noura");
    await call.locator("button.send").click();
    const answer = call.locator(".reply pre");
    await answer.waitFor();
    check("a tried call is answered", (await answer.textContent()).includes('"handle": "noura"'), await answer.textContent());
    check("a tried call tells its price", (await call.locator(".reply p").textContent()).includes("credits used 1"), await call.locator(".reply p").textContent());
    const next = page.locator("#getPost");
    await next.locator("button.try").click();
    await next.locator("button.send").click();
    await next.locator(".reply pre").waitFor();
    check("the key is typed once", (await next.locator(".reply pre").textContent()).includes('"text"'));
    const kept = await page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, location.href, history.state]));
    check("the key is kept nowhere", !kept.includes(key) && !(await page.content()).includes(key), kept);
    check("no error is met on the way", wrong.length === 0, wrong.join("; "));
    await page.reload();
    await call.locator("button.try").click();
    check("the key is gone with the page", (await call.locator("input[type=password]").inputValue()) === "");

    await page.locator("#getPost label", { hasText: "Go" }).click();
    check("a language is chosen for every call", await page.locator("#listComments pre.go").isVisible());
    const arabic = page.locator("#listPosts pre.answer .s", { hasText: /[\u0600-\u06ff]/ }).first();
    check("Arabic in answers has its own direction", (await arabic.evaluate((e) => getComputedStyle(e).unicodeBidi)) === "plaintext");
    await page.close();
  }
} finally {
  await finish();
}
