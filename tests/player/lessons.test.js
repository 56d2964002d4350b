// The lessons: that what they say holds in the recorded runs, and that a course leads through them by clicks alone.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import test from "node:test";

import { Course } from "../../assets/page/lessons-course.js";
import { numbers, readRun, said, together, togetherSaid } from "../../assets/page/lessons-figures.js";
import { fill, inline, names, parse } from "../../assets/page/lessons-text.js";
import { panel } from "../../assets/page/lessons-view.js";
import { teller } from "../../assets/page/tell.js";
import { patch } from "../../assets/player/dom.js";
import { translator } from "../../assets/player/labels.js";
import { mount } from "../../assets/player/player.js";
import { page } from "./dom-stub.js";
import { asset, strings } from "./fixtures.js";

const folder = new URL("../../assets/lessons/", import.meta.url);
const entries = JSON.parse(readFileSync(new URL("lessons.json", folder)));
const words = (language, id) => parse(readFileSync(new URL(`${language}/${id}.md`, folder), "utf8"));
const cache = JSON.parse(readFileSync(new URL("no-cache.json", folder)));
const cacheWords = { length: "1", with: "2", without: "3", times: "4", day: "5", machine: "6", dtype: "7" };
const taught = entries.filter(({ kind }) => kind !== "bug");

const known = new Map();
const run = (id) => {
  if (!known.has(id)) known.set(id, readRun(asset(`traces/${id}.jsonl`)));
  return known.get(id);
};

function number(entry, name) {
  if (!Number.isNaN(Number(name))) return Number(name);
  const [first, second] = name.split(".");
  if (second === undefined) return numbers(run(entry.trace))[first];
  if (first === "all") return together(entry.runs.map(run))[second];
  return numbers(run(first))[second];
}

const HOLDS = { "<": (a, b) => a < b, ">": (a, b) => a > b, "=": (a, b) => a === b };

for (const entry of taught)
  test(`what ${entry.id} says holds in the recorded runs`, () => {
    for (const condition of entry.holds) {
      const [one, sign, other] = condition.split(" ");
      const [a, b] = [number(entry, one), number(entry, other)];
      assert.ok(Number.isFinite(a) && Number.isFinite(b), `${condition}: ${a} ${b}`);
      assert.ok(HOLDS[sign](a, b), `${condition}: ${a} ${b}`);
    }
  });

for (const language of ["en", "zh"])
  test(`every placeholder has a figure (${language})`, () => {
    const t = translator(strings, language);
    for (const entry of taught) {
      const own = said(run(entry.trace), t);
      const figure = (name) => {
        const [first, second] = name.split(".");
        if (second === undefined) return own[first];
        if (first === "all") return togetherSaid(entry.runs.map(run))[second];
        if (first === "cache") return cacheWords[second];
        assert.ok(entry.runs?.includes(first), `${entry.id} speaks of ${first} but does not list it`);
        return said(run(first), t)[second];
      };
      const { sections } = words(language, entry.id);
      for (const [name, { paragraphs, items }] of Object.entries(sections))
        for (const text of [...paragraphs, ...items.values()]) {
          for (const one of names(text)) assert.ok(figure(one) !== undefined && figure(one) !== "–", `${entry.id}, ${name}: ${one}`);
          assert.doesNotMatch(fill(text, figure), /[{}…]|undefined|NaN|null/, entry.id);
        }
    }
  });

test("the cost of having no cache says when, where and how it was measured", () => {
  assert.match(cache.date, /^\d{4}-\d\d-\d\d$/);
  assert.ok(cache.hardware.processor && cache.target && cache.dtype && cache.command.includes("no_cache"));
  for (const row of cache.rows) assert.ok(row.without_s > row.with_cache_s);
});

test("a run that says no temperature has none", () => {
  const { race, timeline } = run("hero");
  const { sampling, ...settings } = timeline.header.settings;
  const bare = { race, timeline: Object.assign(Object.create(timeline), { header: { ...timeline.header, settings } }) };
  assert.notEqual(sampling, undefined);
  assert.equal(said(bare, translator(strings, "en")).temperature, "–");
});

test("a text is a title, paragraphs and items", () => {
  const { title, sections } = parse("# One\n\n## a\nfirst\nline\n\nsecond\n\n- x: **p** and `q`\n- y: z\n");
  assert.equal(title, "One");
  assert.deepEqual(sections.a.paragraphs, ["first line", "second"]);
  assert.deepEqual([...sections.a.items.keys()], ["x", "y"]);
  assert.deepEqual(inline("**p** and `q`").map((part) => part.tag ?? part), ["b", " and ", "code"]);
});

/** A page of nothing but a player, and all that was asked of it. */
function open({ live = true, missing = [], kept = {} } = {}) {
  const root = page();
  const player = mount(root, { strings, autoplay: false, clock: { now: () => 0, request: () => 1, cancel: () => {} } });
  const asked = [];
  const note = (name) => (...given) => asked.push([name, ...given]);
  const host = {
    load: async (id) => (missing.includes(id) ? null : { id }),
    text: ({ id }) => asset(`traces/${id}.jsonl`),
    put({ id }) {
      asked.push(["put", id]);
      player.feed(asset(`traces/${id}.jsonl`));
    },
    player,
    showScene: note("scene"),
    tab: note("tab"),
    select: note("select"),
    focus: note("focus"),
    remember: note("remember"),
    settings: live ? note("settings") : null,
    theory: note("theory"),
    prove: live ? note("prove") : null,
  };
  const store = { kept, read: () => store.kept, write: (done) => (store.kept = done) };
  const timers = { after: () => 1, cancel: () => {} };
  const panelRoot = page();
  let language = "en";
  const t = translator(strings, "en");
  const say = teller(strings, "lessons", "en");
  const code = (id) => {
    const lines = readFileSync(new URL(`bugs/${id}.py`, folder), "utf8").trimEnd().split("\n");
    return { lines: lines.filter((line) => !/^\s*# fix:/.test(line)), fix: lines.find((line) => /^\s*# fix:/.test(line)) };
  };
  const draw = () => {
    say.language = t.language = language;
    patch(panelRoot, panel({ course, say, t, small: false, tours: true, words: (id) => words(language, id), titles: (id) => id, cache: { ...cacheWords, ...cache }, code }));
  };
  const withLines = entries.map((entry) => (entry.kind === "bug" ? { ...entry, line: 4 } : entry));
  const course = new Course(withLines, host, timers, () => course && draw(), { still: true, store });
  return { course, root, panelRoot, player, asked, store, draw, speak: (wanted) => (language = wanted) };
}

const settled = async () => {
  for (let i = 0; i < 50; i++) await new Promise((resolve) => setImmediate(resolve));
};

for (const language of ["en", "zh"])
  for (const entry of taught)
    test(`${entry.id} asks, tells why a wrong prediction is wrong, and goes on (${language})`, async () => {
      const { course, panelRoot, speak, store, asked } = open();
      speak(language);
      await course.enter(entry.id);
      await settled();
      assert.ok(asked.some(([name, id]) => name === "put" && id === entry.trace));
      const choices = panelRoot.all("[data-choice]").map((node) => node.getAttribute("data-choice"));
      assert.ok(choices.length >= 3 && choices.includes(course.answer), course.answer);
      assert.equal(panelRoot.all(".sp-lesson-explain").length, 0);
      const reasons = new Set();
      for (const choice of [...choices.filter((one) => one !== course.answer), course.answer]) {
        course.choose(choice);
        await settled();
        const told = panelRoot.one(".sp-lesson-reason").textContent;
        assert.ok(told.length > 20, told);
        reasons.add(told);
        assert.equal(panelRoot.all(".sp-lesson-right").length, 1);
        assert.equal(panelRoot.all(".sp-lesson-wrong").length, choice === course.answer ? 0 : 1);
      }
      assert.equal(reasons.size, choices.length);
      assert.doesNotMatch(panelRoot.textContent, /[{}…]|undefined|NaN|\*\*|lessons\./);
      assert.notEqual(store.kept[entry.id], course.answer);
      course.next();
      assert.notEqual(course.entry?.id, entry.id);
    });

test("the first answer is kept, later ones show their reasons only", async () => {
  const { course, store, asked } = open();
  await course.enter("1-race");
  course.choose("same");
  await settled();
  const puts = asked.length;
  course.choose("faster");
  assert.deepEqual(store.kept, { "1-race": "same" });
  assert.equal(asked.length, puts);
});

test("reveals lead to the token that the lesson speaks of", async () => {
  const { course, asked, player } = open();
  await course.enter("6-coin");
  assert.equal(player.position(), 0);
  course.choose("ratio");
  await settled();
  const [, { round, slot }] = asked.findLast(([name]) => name === "select");
  const test = player.rounds()[round - 1].judged.tests[slot];
  assert.ok(test.p / test.q > 0 && test.p / test.q < 1 && test.q < 1);
});

test("what to try: settings, the theory of the run, a rule; and what a page without a model can not", async () => {
  const live = open();
  await live.course.enter("4-speed");
  live.course.choose("same");
  live.course.attempt("theory");
  const [, sliders] = live.asked.find(([name]) => name === "theory");
  const { alpha, gamma } = numbers(run("code"));
  assert.equal(sliders.alpha, alpha);
  assert.equal(sliders.gamma, gamma);
  live.course.attempt("long");
  assert.ok(live.asked.some(([name, values]) => name === "settings" && values.gamma === 12));
  const dead = open({ live: false });
  await dead.course.enter("7-residual");
  dead.course.choose("p");
  assert.deepEqual(dead.panelRoot.all("[data-attempt]").map((node) => node.getAttribute("aria-disabled")), [null, "true"]);
  dead.course.attempt("wrong");
  assert.equal(dead.course.tried, null);
});

test("a run that cannot be had is said, and asked for again", async () => {
  const { course, panelRoot } = open({ missing: ["hero"] });
  await course.enter("1-race");
  assert.ok(panelRoot.one("[role=alert]"));
  assert.ok(panelRoot.all("[data-lesson-do=again]").length);
});

test("a lesson left before its run came puts nothing on the stage", async () => {
  const { course, asked } = open();
  const entering = course.enter("1-race");
  course.contents();
  await entering;
  assert.equal(asked.filter(([name]) => name === "put").length, 0);
});

test("of two lessons opened in a hurry the second one stays", async () => {
  const { course, asked } = open();
  await course.read("code");
  await Promise.all([course.enter("1-race"), course.enter("2-one-pass")]);
  await settled();
  assert.deepEqual(asked.filter(([name]) => name === "put"), [["put", "code"]]);
  assert.equal(course.entry.id, "2-one-pass");
  assert.equal(course.lost, false);
});

test("the wrong line: innocent ones give a hint, the right one its reason", async () => {
  const { course, panelRoot, store } = open();
  const bugs = entries.filter(({ kind }) => kind === "bug");
  await course.enter(bugs[0].id);
  course.point(0);
  assert.match(panelRoot.one(".sp-lesson-reason").textContent, /^Line 1 is right\. /);
  course.point(4);
  assert.match(panelRoot.one(".sp-lesson-reason").textContent, /^Right, line 5\. /);
  assert.equal(panelRoot.all(".sp-bug-fix").length, 1);
  assert.equal(store.kept[bugs[0].id], 1);
  await course.enter(bugs[1].id);
  course.point("show");
  assert.match(panelRoot.one(".sp-lesson-reason").textContent, /^It is line 5\. /);
});

test("the list shows every entry, and what is done; it can be forgotten", async () => {
  const { course, panelRoot, store } = open({ kept: { "1-race": "faster" } });
  course.contents();
  assert.equal(panelRoot.all("[data-entry]").length, entries.length + 1);
  assert.equal(panelRoot.all(".sp-lesson-tick").length, 1);
  course.forget();
  assert.deepEqual(store.kept, {});
  assert.equal(panelRoot.all(".sp-lesson-tick").length, 0);
});

test("all texts of the folder belong to an entry", () => {
  for (const language of ["en", "zh"]) assert.deepEqual(readdirSync(new URL(`${language}/`, folder)).sort(), entries.map(({ id }) => `${id}.md`).sort());
});
