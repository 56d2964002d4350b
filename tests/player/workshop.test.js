// The workshop's scripts that need no page: questions and their answers, the board, what is posted and when.
import assert from "node:assert/strict";
import test from "node:test";

import { costs, board } from "../../assets/workshop/board.js";
import { question } from "../../assets/workshop/ask.js";
import { Post } from "../../assets/workshop/post.js";
import { answer, kinds, own, ready } from "../../assets/workshop/questions.js";
import { words } from "../../assets/workshop/words.js";
import { Lessons } from "../../assets/workshop/lessons.js";
import { strings, text } from "./fixtures.js";

const say = words(strings, () => "en");
const languages = { en: words(strings, () => "en"), zh: words(strings, () => "zh") };

/** All descriptions below one, itself included. */
function all(node) {
  return typeof node === "object" && node.children ? [node, ...node.children.flatMap(all)] : [];
}

const byClass = (node, name) => all(node).filter(({ attributes }) => String(attributes.class ?? "").split(" ").includes(name));

test("ready questions are whole in both languages, and their answers are among the options", () => {
  for (const name of ["greedy", "sampled", "lookup", "foil"]) {
    const trace = text(name);
    for (const kind of kinds(trace)) {
      const asked = ready(kind, trace, languages);
      const right = answer(kind, trace);
      assert.ok(right === null || (right >= 0 && right < asked.options.length), `${name} ${kind} ${right}`);
      for (const one of [asked.text, ...asked.options])
        for (const lang of ["en", "zh"]) assert.ok(one[lang] && !one[lang].includes("{") && !one[lang].startsWith("workshop."), JSON.stringify(one));
    }
  }
  assert.ok(kinds(text("greedy")).includes("identical"));
  assert.ok(!kinds(text("sampled")).includes("identical"));
  assert.equal(answer("own", text("greedy")), null);
});

test("an own question has an answer to a line", () => {
  assert.deepEqual(own(" Why? ", "a\n\n b \n", "zh"), { kind: "own", text: { zh: "Why?" }, options: [{ zh: "a" }, { zh: "b" }] });
});

test("an attendee sees no count before the answer is shown, the presenter does", () => {
  const asked = { id: 1, open: true, answer: null, votes: 5, tally: null };
  const wording = { text: { en: "Faster?" }, options: [{ en: "yes" }, { en: "no" }] };
  const attendee = question({ asked, words: wording, choice: 0, say, votes: true });
  assert.equal(byClass(attendee, "ws-count").length, 0);
  assert.equal(byClass(attendee, "ws-mine").length, 1);
  const presenter = question({ asked, words: wording, choice: null, tally: [3, 2], say, votes: false });
  assert.deepEqual(byClass(presenter, "ws-count").map(({ children }) => children[0]), ["3", "2"]);
  assert.equal(all(presenter).filter(({ tag }) => tag === "button").length, 0);
  const shown = question({ asked: { ...asked, open: false, answer: 1, tally: [3, 2] }, words: wording, choice: 0, say, votes: true });
  assert.deepEqual(byClass(shown, "ws-count").map(({ children }) => children[0]), ["3", "2"]);
  assert.equal(byClass(shown, "ws-right").length, 1);
  assert.equal(byClass(shown, "ws-wrong").length, 1);
});

test("every point with an α is on the board, an own one marked; one without α is counted only", () => {
  const point = (id, more) => ({ id, drafter: "ngram", gamma: 4, temperature: 0, tokens: 30, alpha: 0.5, speedup: 1.2, c: 0.1, v: 1.4, ...more });
  const points = [point(1), point(2, { drafter: "prompt-lookup", alpha: 0.9 }), point(3, { alpha: null })];
  const drawn = board({ points, mine: new Set([2]), width: 800, height: 500, say });
  assert.deepEqual(all(drawn).map(({ attributes }) => attributes["data-point"]).filter(Boolean), [1, 2]);
  assert.equal(byClass(drawn, "ws-own").length, 1);
  assert.ok(JSON.stringify(drawn).includes("3 runs"));
  assert.deepEqual(costs(points), { c: 0.1, slope: 0.09999999999999998 });
  assert.ok(board({ points: [], mine: new Set(), width: 300, height: 300, say }));
});

test("the key of the board names every drafter by the ink and shape of its points", () => {
  const point = (id, drafter, alpha) => ({ id, drafter, gamma: 4, temperature: 0, tokens: 30, alpha, speedup: 1.2, c: id / 10, v: 1.4 });
  const points = [point(1, "ngram", null), point(2, "model", 0.5), point(3, "prompt-lookup", 0.6)];
  const drawn = board({ points, mine: new Set(), width: 800, height: 500, say });
  const look = ({ attributes: { style }, children }) => `${style} ${children.map(({ tag }) => tag).find((tag) => ["circle", "rect", "path"].includes(tag))}`;
  const [key] = byClass(drawn, "ws-key");
  const inks = byClass(key, "ws-point").map(look);
  assert.deepEqual(byClass(drawn, "ws-point").filter(({ tag }) => tag === "g").map(look), inks);
  assert.equal(new Set(inks).size, 2);
  assert.match(JSON.stringify(key), /0\.30/); // the c of the curves, which is that of the points drawn
});

test("places are posted one after the other, and the newest wins", async () => {
  const sent = [];
  const waiting = [];
  const wire = { post: (path, value) => (sent.push(value), new Promise((done) => waiting.push(done))) };
  const settle = () => new Promise((done) => setImmediate(done));
  const post = new Post(wire, "tab-one", () => {});
  post.change({ step: 1 });
  post.change({ step: 2, speed: 1 });
  post.change({ step: 3 });
  assert.deepEqual(sent, [{ step: 1, playing_on: false, by: "tab-one" }]);
  waiting.shift()();
  await settle();
  assert.deepEqual(sent.slice(1), [{ step: 3, speed: 1, playing_on: false, by: "tab-one" }]);
  waiting.shift()();
  await settle();
  assert.equal(sent.length, 2);
});

test("what plays on is not posted at every step, and never hides that somebody touched something", async () => {
  const sent = [];
  const post = new Post({ post: async (path, value) => sent.push(value) }, "tab-one", () => {});
  post.change({ step: 1, speed: 1 });
  await new Promise((done) => setImmediate(done));
  for (let step = 2; step < 20; step++) post.change({ step }, true);
  assert.equal(sent.length, 1);
  post.change({ step: 20, speed: 0 });
  await new Promise((done) => setImmediate(done));
  assert.deepEqual(sent[1], { step: 20, speed: 0, playing_on: false, by: "tab-one" });
});

test("a lesson's question fits what a workshop takes, and its answer is one of its options", async () => {
  const { readFileSync } = await import("node:fs");
  const assets = new URL("../../assets/", import.meta.url);
  const entries = JSON.parse(readFileSync(new URL("lessons/lessons.json", assets)));
  const found = entries.filter(({ kind }) => kind === "lesson");
  const read = (lang) => Object.fromEntries(found.map(({ id }) => [id, readFileSync(new URL(`lessons/${lang}/${id}.md`, assets), "utf8")]));
  const lessons = new Lessons({ entries, words: { en: read("en"), zh: read("zh") } }, strings);
  assert.ok(lessons.entries.length >= 9);
  for (const { id, trace } of lessons.entries) {
    const run = readFileSync(new URL(`traces/${trace}.jsonl`, assets), "utf8");
    const asked = lessons.question(id, run);
    assert.ok(asked.options.length >= 2 && asked.options.length <= 6, id);
    for (const one of [asked.text, ...asked.options])
      for (const words of Object.values(one)) assert.ok(words.length > 0 && words.length <= 1500 && !/[{}]|…/.test(words), `${id}: ${words}`);
    assert.ok(lessons.answer(id, run) >= 0, id);
    assert.match(asked.kind, /^[\w.-]{1,64}$/);
  }
});
