// Opens the documentation of a running server in headless Chromium, as readers would: wide and narrow, in light and in
// dark, with and without script, with a screen reader's eyes.
// Usage: node browser.mjs http://127.0.0.1:PORT KEY [screenshot folder]
import { audit, check, finish, looksRight, open } from "./page.mjs";

const [base, key, shots] = process.argv.slice(2);

try {
  for (const path of ["/docs", "/docs/platforms", "/docs/fields", "/docs/changelog", "/docs/platforms/tiktok"]) await looksRight(base + path, path, shots);

  {
    const { page, wrong } = await open(`${base}/docs`, { javaScriptEnabled: false });
    const calls = page.locator("section.call");
    check("without script every operation is there", (await calls.count()) > 40);
    check("without script the call of each is shown", (await page.locator(".tabs pre:visible").count()) === (await calls.count()));
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
    const hits = page.locator("#hits li");
    const names = page.locator("#hits li span");
    const find = page.locator("#find");
    const search = async (words) => {
      await find.fill("");
      await find.fill(words);
      await page.locator(".found:not(:empty)").waitFor();
    };
    await page.keyboard.press("Control+k");
    await page.keyboard.type("qqqq");
    await page.locator(".found", { hasText: "Nothing found" }).waitFor();
    check("the search says when there is nothing", (await hits.count()) === 0, `${await hits.count()} are shown`);
    await search("collection tracks");
    check("the search finds an operation first", (await names.first().textContent()) === "collection / tracks", await names.first().textContent());
    check("the search says how much it found", /^\d+ found$/.test(await page.locator(".found").textContent()), await page.locator(".found").textContent());
    await page.keyboard.press("Enter");
    check("the search leads there", page.url().endsWith("#listCollectionTracks"), page.url());
    check("the contents are back behind the search", await page.locator("#contents .all").isVisible());
    for (const word of ["tiktok", "refund", "402", "webhook", "hashtag", "sentiment", "price", "retry", "etag", "playlist", "arabic", "dialect", "followers", "rate limit", "next_cursor", "idempotency", "subreddit", "timeout", "likes", "post_id", "python", "sdk", "csv", "pricing", "create key"]) {
      await search(word);
      check(`the search finds ${word}`, (await hits.count()) > 0);
    }
    await page.keyboard.press("Escape");
    await page.locator("h1").click();
    await page.keyboard.press("/");
    check("a slash leads to the search", await find.evaluate((e) => e === document.activeElement && e.value === ""));
    await search("refund");
    await page.keyboard.press("ArrowDown");
    check("arrow keys choose", (await page.locator("#hits [aria-selected=true]").getAttribute("id")) === "hit-1" && (await find.getAttribute("aria-activedescendant")) === "hit-1");
    await page.keyboard.press("ArrowUp");
    await page.keyboard.press("ArrowUp");
    check("and stop at the first", (await page.locator("#hits [aria-selected=true]").getAttribute("id")) === "hit-0");
    await search("tiktok");
    await names.getByText("TikTok", { exact: true }).click();
    await page.waitForURL("**/docs/platforms/tiktok");
    check("the search leads to the page of a platform", (await page.locator("h1").textContent()).startsWith("TikTok"), page.url());
    check("the page of a platform shows an object", (await page.locator("pre.answer").textContent()).includes('"platform": "tiktok"'));

    await page.goto(`${base}/docs#not_found`);
    check("the type of a problem leads to its explanation", await page.locator("#not_found h3").isVisible());

    const call = page.locator("#getProfile");
    await call.locator("button.try").click();
    await call.locator("input[type=password]").fill(key);
    await call.locator("input[name=handle]").fill("noura!");
    for (const language of ["curl", "go", "ts", "py"]) {
      const text = await call.locator(`pre.${language}`).textContent();
      check(`the call in ${language} follows the form`, text.includes(language === "curl" ? "handle=noura%21" : '"noura!"') && !text.includes("salma"), text);
    }
    await call.locator("input[name=handle]").fill("noura");
    await call.locator("button.send").click();
    const answer = call.locator(".reply pre");
    await answer.waitFor();
    check("a tried call is answered", (await answer.textContent()).includes('"handle": "noura"'), await answer.textContent());
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"], { origin: base });
    await call.locator(".reply .copy").click();
    check("the answer can be copied", (await page.evaluate(() => navigator.clipboard.readText())).includes('"handle": "noura"'));
    check("a tried call tells its price", (await call.locator(".reply p").textContent()).includes("credits used 1"), await call.locator(".reply p").textContent());
    const next = page.locator("#getPost");
    await next.locator("button.try").click();
    await next.locator("button.send").click();
    await next.locator(".reply pre").waitFor();
    check("the key is typed once", (await next.locator(".reply pre").textContent()).includes('"text"'));
    const change = page.locator("#putKey");
    await change.locator("button.try").click();
    await change.locator("input[name=name]").fill("tried");
    await change.locator("textarea").fill('{"day_cap": 7}');
    check("the call of a change follows the form", /manage\/keys\/tried/.test(await change.locator("pre.curl").textContent()) && (await change.locator("pre.curl").textContent()).includes(`-d '{"day_cap": 7}'`));
    await change.locator("button.send").click();
    await change.locator(".reply pre").waitFor();
    check("a tried change is made", (await change.locator(".reply pre").textContent()).includes('"day_cap": 7'), await change.locator(".reply").textContent());
    const kept = await page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, location.href, history.state]));
    check("the key is kept nowhere", !kept.includes(key) && !(await page.content()).includes(key), kept);
    check("no error is met on the way", wrong.length === 0, wrong.join("; "));
    await page.reload();
    await call.locator("button.try").click();
    check("the key is gone with the page", (await call.locator("input[type=password]").inputValue()) === "");

    await page.locator("#getPost label", { hasText: "curl" }).click();
    check("a language is chosen for every call", await page.locator("#listComments pre.curl").isVisible());
    const arabic = page.locator("#listPosts pre.answer .s", { hasText: /[\u0600-\u06ff]/ }).first();
    check("Arabic in answers has its own direction", (await arabic.evaluate((e) => getComputedStyle(e).unicodeBidi)) === "plaintext");
    await page.close();
  }
  {
    const { page } = await open(`${base}/docs`, { bypassCSP: true }); // axe comes from outside
    await page.locator("#find").fill("price");
    await page.locator("#hits li").first().waitFor();
    if (shots) await page.screenshot({ path: `${shots}/docs-search.png` });
    await audit(page, "the search");
    await page.close();
  }
} catch (e) {
  check("the checks come to their end", false, e.stack);
} finally {
  await finish();
}
