// The Train tab: which files are text, and what is shown of a table.
import assert from "node:assert/strict";
import test from "node:test";

import { teller } from "../../assets/page/tell.js";
import { readText, Train } from "../../assets/page/train.js";
import { view } from "../../assets/page/train-view.js";
import { strings } from "./fixtures.js";

const words = (node) => (Array.isArray(node) ? node.map(words).join("") : typeof node === "object" && node ? words(node.children) : String(node ?? ""));
const bytes = (text) => new TextEncoder().encode(text);

test("a file is text only if it is called .txt and is strict UTF-8 within the limit", () => {
  assert.deepEqual(readText(bytes("héllo 投"), "a.TXT", 100), { text: "héllo 投" });
  assert.deepEqual(readText(bytes("\ufeffbegins with a mark"), "a.txt", 100), { text: "begins with a mark" });
  for (const [given, name, problem] of [
    [bytes("x"), "a.pdf", "not_txt"],
    [bytes("x"), "txt", "not_txt"],
    [new Uint8Array([0x66, 0xff, 0x6f]), "a.txt", "not_utf8"],
    [new Uint8Array([0xe6, 0x8a]), "a.txt", "not_utf8"],
    [new Uint8Array([0xff, 0xfe, 0x61, 0x00]), "a.txt", "not_utf8"],
    [bytes("a\0b"), "a.txt", "not_utf8"],
    [bytes(" \n"), "a.txt", "blank"],
    [bytes("x".repeat(101)), "a.txt", "too_long"],
    [new Uint8Array(1000), "a.txt", "too_long"],
  ])
    assert.deepEqual(readText(given, name, 100), { problem });
});

const TABLE = { tokens: 12345, seconds: 0.31, kinds: [900, 4000, 6000], bytes: 612_000 };
const LOOK = {
  state: "done",
  context: [[" the", "text"]],
  levels: [{ ending: [[" the", "text"]], total: 30, kinds: 2, rows: [[["<img src=x>", "text"], 20], [[" a\n", "text"], 10]] }],
  law: [[["<img src=x>", "text"], 0.61]],
  ahead: [[["<img src=x>", "text"], 0.61]],
};

test("every state of the tab is whole in both languages, and words are words", () => {
  for (const language of Object.keys(strings)) {
    const say = teller(strings, "train", language);
    const tab = { say, texts: strings, text: "abc", context: "the", asked: { order: 4 }, orders: [2, 6], most: 1_000_000, problem: null, latest: { train: null, look: null }, table: null, busy: false };
    const failed = { state: "failed", problem: { en: "wrong", zh: "错" } };
    const shown = [
      view(tab),
      view({ ...tab, busy: true, latest: { train: { state: "running", done: 20_000, of: 50_000 }, look: null } }),
      view({ ...tab, latest: { train: failed, look: null }, problem: say("problem.not_utf8", { file: "a.txt" }) }),
      ...["waiting", "stopped"].map((state) => view({ ...tab, latest: { train: { state }, look: null } })),
      view({ ...tab, table: TABLE, latest: { train: { state: "done" }, look: LOOK } }),
      view({ ...tab, table: TABLE, latest: { train: { state: "done" }, look: { ...LOOK, levels: [], context: [] } } }),
      view({ ...tab, table: TABLE, latest: { train: { state: "done" }, look: failed } }),
    ].map(words);
    for (const text of shown) assert.doesNotMatch(text, /train\.|\{\w+\}|undefined|NaN/);
    for (const part of ["12 345", "6 000", "0.6 MB", "<img␣src=x>", "0.610", "20"]) assert.ok(shown[5].includes(part), part);
    assert.ok(shown[2].includes(failed.problem[language]));
  }
});

test("a table that comes again at the end of its stream does not take the place of a question to it", () => {
  const asked = [];
  const plain = { say: (key) => key, text: "abc", context: "", asked: { order: 4 }, latest: { train: null, look: null }, table: null, question: 0, draw: () => {}, look: ({ context }) => asked.push(context) };
  const tab = Object.assign(Object.create(Train.prototype), plain);
  const done = { ...TABLE, run: "a", kind: "train", state: "done", middle: "b" };
  tab.received(done);
  tab.seek("c");
  tab.received(done);
  assert.deepEqual([asked, tab.context], [["b", "c"], "c"]);
  tab.received({ ...done, run: "b", middle: "d" });
  assert.deepEqual(asked, ["b", "c", "d"]);
});
