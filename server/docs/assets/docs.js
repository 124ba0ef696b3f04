// Additional functions of the pages, which can be read without them. The script only sends requests to the server of
// the page, and keeps what a reader types, such as the key, in the memory of the page.
"use strict";

const all = (selector, under = document) => [...under.querySelectorAll(selector)];

function make(name, props = {}, ...inside) {
  const node = Object.assign(document.createElement(name), props);
  node.append(...inside);
  return node;
}

// The search covers all pages, and shows its results in place of the contents.
const contents = document.getElementById("contents");
const find = document.getElementById("find");
const found = contents.querySelector(".found");
const hits = document.getElementById("hits");
const most = 30;
const root = new URL(document.querySelector(".brand").href).href.replace(/docs$/, "");
let index; // a promise of the index, from the first use of the search
contents.querySelector("search").hidden = false;

function load() {
  index ??= fetch(`${root}docs/search.json`).then((r) => r.json()).catch(() => ((index = undefined), []));
  return index;
}

// score returns how well a hit matches the words, lower is better; null when it does not contain all.
function score(hit, words) {
  const title = hit.t.toLowerCase();
  const text = `${title} ${hit.w.toLowerCase()} ${hit.k.toLowerCase()}`;
  if (!words.every((w) => text.includes(w))) return null;
  const whole = words.join(" ");
  const name = title.split(/[^a-z0-9]+/).filter(Boolean).join(" ");
  return title === whole || name === whole ? 0 : title.startsWith(whole) ? 1 : hit.k !== "Field" && words.every((w) => title.includes(w)) ? 2 : 3;
}

function choose(option) {
  hits.querySelector("[aria-selected=true]")?.setAttribute("aria-selected", "false");
  option?.setAttribute("aria-selected", "true");
  option?.scrollIntoView({ block: "nearest" });
  option ? find.setAttribute("aria-activedescendant", option.id) : find.removeAttribute("aria-activedescendant");
}

function leave(option) {
  find.value = "";
  show([]);
  if (contents.matches(":popover-open")) contents.hidePopover();
  location.href = root + option.dataset.to;
}

function show(best, told = "") {
  const searching = find.value.trim() !== "";
  hits.replaceChildren(...best.map((hit, n) => {
    const option = make("li", { id: `hit-${n}` }, make("span", { textContent: hit.t }), make("small", { textContent: hit.k }));
    option.setAttribute("role", "option");
    option.setAttribute("aria-selected", "false");
    option.dataset.to = hit.u;
    return option;
  }));
  hits.hidden = !best.length;
  contents.querySelector(".all").hidden = searching;
  find.setAttribute("aria-expanded", String(best.length > 0));
  found.textContent = told;
  choose(hits.firstElementChild);
}

find.addEventListener("focus", load);
find.addEventListener("input", async () => {
  const words = find.value.toLowerCase().split(/[\s/]+/).filter(Boolean);
  if (!words.length) return show([]);
  const all = await load();
  if (words.join() !== find.value.toLowerCase().split(/[\s/]+/).filter(Boolean).join()) return; // the reader has typed more
  const fit = all.map((hit) => ({ hit, at: score(hit, words) })).filter((f) => f.at !== null).sort((a, b) => a.at - b.at);
  show(fit.slice(0, most).map((f) => f.hit), fit.length ? `${fit.length} found` : "Nothing found");
});
find.addEventListener("keydown", (e) => {
  const chosen = hits.querySelector("[aria-selected=true]");
  if (e.key === "Escape") {
    find.value = "";
    show([]);
  } else if (e.key === "Enter" && chosen) {
    leave(chosen);
  } else if ((e.key === "ArrowDown" || e.key === "ArrowUp") && chosen) {
    e.preventDefault();
    choose((e.key === "ArrowDown" ? chosen.nextElementSibling : chosen.previousElementSibling) ?? chosen);
  }
});
hits.addEventListener("mousedown", (e) => e.preventDefault()); // the field keeps the focus
hits.addEventListener("click", (e) => {
  const option = e.target.closest("[role=option]");
  if (option) leave(option);
});
document.addEventListener("keydown", (e) => {
  const slash = e.key === "/" && !e.ctrlKey && !e.metaKey && !e.target.closest("input, select, textarea");
  if (slash || (e.key === "k" && (e.ctrlKey || e.metaKey))) {
    e.preventDefault();
    if (getComputedStyle(contents).display === "none") contents.showPopover();
    find.focus();
  }
});
contents.addEventListener("click", (e) => {
  if (e.target.closest("a") && contents.matches(":popover-open")) contents.hidePopover();
});

// The contents mark the section on screen.
const links = new Map(all("li a", contents).filter((a) => a.pathname === location.pathname).map((a) => [a.hash.slice(1), a]));
const parts = all("main > section[id]").filter((s) => links.has(s.id));
let here = null;
function mark() {
  const at = parts.findLast((s) => s.getBoundingClientRect().top < 140);
  const link = at && links.get(at.id);
  if (link === here) return;
  here?.removeAttribute("aria-current");
  here = link;
  if (!here) return;
  here.setAttribute("aria-current", "true");
  const box = here.getBoundingClientRect();
  if (box.top < 120 || box.bottom > innerHeight - 40) contents.scrollBy({ top: box.top - innerHeight / 2, behavior: "instant" });
}
let waiting = false;
addEventListener("scroll", () => {
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => ((waiting = false), mark()));
}, { passive: true });
mark();

// A language is selected for all calls together.
document.addEventListener("change", (e) => {
  if (!e.target.name?.startsWith("language-")) return;
  const top = e.target.getBoundingClientRect().top;
  for (const radio of all(`.tabs input[value="${e.target.value}"]`)) radio.checked = true;
  scrollBy({ top: e.target.getBoundingClientRect().top - top, behavior: "instant" });
});

function addCopy(box) {
  const button = make("button", { type: "button", className: "copy", textContent: "Copy" });
  button.addEventListener("click", async () => {
    const shown = all("pre", box).find((pre) => pre.offsetParent);
    try {
      await navigator.clipboard.writeText(shown.textContent);
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(shown); // the page may not copy: the reader can
      button.textContent = "Press Ctrl C";
    }
    setTimeout(() => (button.textContent = "Copy"), 2000);
  });
  box.append(button);
}
all(".box").forEach(addCopy);

// Calls of the reader. The key is only in a variable: it is not stored, and lost with the page. It is that of the sandbox,
// that with which the reader has signed in to the dashboard of this server, or one that is typed.
const sandboxKey = document.body.dataset.key ?? "";
const dashboard = document.getElementById("dashboard");
let key = sandboxKey;
let signedIn = false;

async function findKey() {
  if (key || !dashboard) return;
  try {
    const response = await fetch(`${dashboard.href}/key`, { method: "POST", cache: "no-store", credentials: "same-origin" });
    if (response.status === 200) key = await response.text();
    signedIn = key !== "";
  } catch {
    // the reader can type it
  }
}

addEventListener("pagehide", () => {
  key = sandboxKey; // a page from the browser's back-forward cache has no key
  for (const input of all("input[data-key]")) input.value = sandboxKey;
});

function fieldFor(param) {
  const { name, try: start, required } = param.dataset;
  const words = param.dataset.words || (param.querySelector(".type").textContent === "true or false" ? "true false" : "");
  const needed = required !== undefined || start;
  let input;
  if (words) {
    input = make("select", { name });
    if (required === undefined) input.append(make("option", { value: "", textContent: "" }));
    for (const word of words.split(" ")) input.append(make("option", { value: word, textContent: word }));
    input.value = start;
  } else {
    input = make("input", { name, value: start, autocomplete: "off", spellcheck: false });
    if (name === "platform" || name === "platforms") input.setAttribute("list", "platforms");
  }
  input.required = required !== undefined;
  input.dataset.in = param.dataset.in;
  const label = make("label", {}, name, " ", make("small", { textContent: required === undefined ? "optional" : "" }), input);
  return { label, needed };
}

function formOf(section) {
  const form = make("form", { className: "form" });
  const needs = all(".facts dt", section).find((dt) => dt.textContent === "Key")?.nextElementSibling.textContent;
  if (needs !== "not needed") {
    const input = make("input", { type: "password", value: key, autocomplete: "off", placeholder: "sk_live_…", required: true });
    input.dataset.key = "";
    input.addEventListener("input", () => (key = input.value.trim()));
    const words = key && key === sandboxKey ? "that of this sandbox" : signedIn ? "with which you have signed in; it is gone with this page" : "stays in this page, and is gone with it";
    form.append(make("label", {}, "Your key ", make("small", { textContent: words }), input));
  }
  const more = make("details", { className: "more" }, make("summary", { textContent: "More parameters" }));
  if (section.dataset.body) {
    form.append(make("label", {}, "Body", make("textarea", { name: "body", value: section.dataset.body, spellcheck: false })));
  }
  for (const param of all(".params dt:not([data-in=body])", section)) {
    const { label, needed } = fieldFor(param);
    (needed ? form : more).append(label);
  }
  if (more.children.length > 1) form.append(more);
  const reply = make("div", { className: "reply" });
  reply.setAttribute("role", "status");
  form.append(make("button", { className: "send", textContent: "Send" }));
  form.addEventListener("submit", (e) => {
    e.preventDefault();
    send(section, form, reply);
  });
  follow(section, form);
  return [form, reply];
}

// targetOf returns the address of the call in a form, without characters that have a meaning in a shell or a string.
function targetOf(section, form) {
  let path = section.querySelector(".route code").textContent.slice(1);
  const query = new URLSearchParams();
  const plain = (text) => text.replace(/[!'()*~]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
  for (const input of all("[data-in]", form)) {
    const value = input.value;
    if (!value || input.dataset.in === "header") continue;
    if (input.dataset.in === "query") query.set(input.name, value);
    else path = path.replace(`{${input.name}}`, () => (input.name === "path" ? value.split("/") : [value]).map(encodeURIComponent).join("/"));
  }
  return root + plain(path + (query.size ? `?${query}` : ""));
}

// follow updates the snippets of a section with the call in its form: the address and body in that of curl, and the
// texts that are parameters in those of the clients.
function follow(section, form) {
  const curl = section.querySelector("pre.curl code");
  const texts = all(".tabs pre:not(.curl) .s", section);
  const shown = new Map(all("[data-in]", form).filter((i) => i.value)
    .map((input) => [input, texts.filter((span) => span.textContent === JSON.stringify(input.value))]));
  let target = section.dataset.target;
  let { body } = section.dataset;
  form.addEventListener("input", () => {
    const now = { target: targetOf(section, form), body: form.elements.body?.value.replaceAll("'", "'\\''") };
    curl.textContent = curl.textContent.replaceAll(target, () => now.target);
    if (body) curl.textContent = curl.textContent.replace(`-d '${body}'`, () => `-d '${now.body}'`);
    ({ target, body } = now);
    for (const [input, spans] of shown) for (const span of spans) span.textContent = JSON.stringify(input.value);
  });
}

async function send(section, form, reply) {
  const headers = key && form.querySelector("[data-key]") ? { Authorization: `Bearer ${key}` } : {};
  for (const input of all("[data-in=header]", form)) if (input.value) headers[input.name] = input.value;
  const target = targetOf(section, form);
  reply.replaceChildren(make("p", { textContent: "Sending…" }));
  const began = performance.now();
  let head, body;
  try {
    const { method } = section.dataset;
    const given = form.elements.body?.value;
    if (given) headers["Content-Type"] = "application/json";
    const response = await fetch(target, { method, headers, body: given, cache: "no-store", credentials: "omit" });
    body = await response.text();
    const tell = (name, words) => (response.headers.get(name) ? `, ${words} ${response.headers.get(name)}` : "");
    head = `${response.status} in ${Math.round(performance.now() - began)} ms`
      + tell("X-Credits-Used", "credits used") + tell("X-Credits-Remaining", "left") + tell("X-Cache", "cache");
    if (body) body = JSON.stringify(JSON.parse(body), null, 2);
  } catch (e) {
    head ??= `The server could not be reached: ${e.message}`;
  }
  const pre = make("pre", { tabIndex: 0 }, ...colour(body ?? ""));
  reply.className = "reply box";
  reply.replaceChildren(make("p", { textContent: head }), pre);
  if (body) addCopy(reply);
}

// colour returns JSON as text and spans, like the examples of the page.
function* colour(text) {
  let last = 0;
  for (const m of text.slice(0, 200_000).matchAll(/("(?:[^"\\]|\\.)*")(:?)|\b(?:true|false|null)\b|-?\b\d[\d.eE+-]*/g)) {
    yield text.slice(last, m.index);
    const token = m[1] ?? m[0];
    yield make("span", { className: m[2] ? "k" : m[1] ? "s" : "n", textContent: token });
    last = m.index + token.length;
  }
  yield text.slice(last);
}

for (const button of all(".try")) {
  button.hidden = false;
  button.addEventListener("click", async () => {
    button.disabled = true;
    await findKey();
    const parts = formOf(button.closest("section"));
    button.replaceWith(...parts);
    (all("input, select", parts[0]).find((i) => !i.value) ?? parts[0].querySelector(".send")).focus();
  });
}
