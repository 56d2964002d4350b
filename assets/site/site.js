// A page that needs no server: it starts from what was written into it and from the scripts that lie beside it.

import { showHead } from "../page/head.js";
import { setTheme } from "../page/address.js";
import { pageHost } from "../page/lessons-host.js";
import { Lessons } from "../page/lessons.js";
import { inPlace } from "../page/parts.js";
import { offered } from "../page/tabs.js";
import { Theory } from "../page/theory.js";
import { answers } from "./answers.js";
import { foot } from "./foot.js";
import { Packs } from "./packs.js";
import { remote } from "./remote.js";
import { Stand } from "./stand.js";

const WITHOUT = ["figure", "page"];
const LESSONS = "lessons/";

/**
 * Fills the page and resolves to its handle (remote.js).
 * given: {texts, languages, traces ([{id, titles, file, hero}]), most_bytes, rules, verify_source, base, worker, repository,
 * lessons (their file, or ""), autoplay, unpack}.
 */
export async function start(given) {
  const { texts, languages, traces, most_bytes, base, worker } = given;
  const asked = new URLSearchParams(window.location.search).get("__theme");
  setTheme(asked ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light"));
  const component = (id, more) => ({ element: document.getElementById(id), props: { value: "" }, watch: () => {}, texts, ...more });
  showHead(component("head", { languages, chosen: () => {} }));
  if (document.getElementById("theory")) inPlace("theory", new Theory(component("theory")));
  foot(component("foot", given));

  const packs = new Packs(given.lessons ? [...traces, { id: LESSONS, file: given.lessons }] : traces, base, given.unpack, window);
  const say = (key, params) => everywhere(texts, key, params);
  const value = await first(traces, packs);
  const server = answers(packs, { most: most_bytes, rules: given.rules }, say);
  const own = { props: { value }, server, traces, most_bytes, verify_source: given.verify_source, without: WITHOUT, autoplay: given.autoplay };
  const stage = inPlace("stage", new Stand(component("stage", own)));
  if (given.lessons) await lessons(packs, component("lessons", { traces }));
  keep(worker, packs);
  return remote(stage);
}

/** The lessons, where their file is there. What they propose to try on a live model they leave out: there are no settings. */
async function lessons(packs, component) {
  const data = await packs.text(LESSONS);
  const element = component.element.querySelector(".sp-lessons");
  if (data !== null) inPlace("lessons", new Lessons({ ...component, element, data: JSON.parse(data), host: pageHost({ settings: null, tabs: offered() }) }));
}

/** The run that plays first, as the stage takes it. */
async function first(traces, packs) {
  const hero = traces.find((one) => one.hero) ?? traces[0];
  const text = hero ? await packs.text(hero.id) : null;
  return text === null ? "" : `${JSON.stringify({ run: hero.id, source: "recorded" })}\n${text}`;
}

// A browser that keeps the page keeps its runs too; else the open page fetches them while the network is there.
function keep(worker, packs) {
  if (!worker || !window.location.protocol.startsWith("http")) return;
  const about = document.createElement("link");
  Object.assign(about, { rel: "manifest", href: "site.webmanifest" });
  document.head.append(about);
  // There is none outside of https and localhost, and a frame around the page may forbid it.
  const kept = navigator.serviceWorker?.register(worker) ?? Promise.reject();
  kept.catch(() => packs.all());
}

function everywhere(texts, key, params) {
  const fill = (text) => text.replace(/\{(\w+)\}/g, (all, name) => params[name] ?? all);
  return Object.fromEntries(Object.entries(texts).map(([lang, table]) => [lang, fill(table[key])]));
}
