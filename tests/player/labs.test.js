// The tabs beside the stage: their addresses, the numbers of the Theory tab, and what the Prove tab makes of results.
import assert from "node:assert/strict";
import test from "node:test";

import { kept, searchWith } from "../../assets/page/keep.js";
import { Prove } from "../../assets/page/prove.js";
import { across, common, result as greedyResult } from "../../assets/page/prove-greedy.js";
import { result as sampledResult } from "../../assets/page/prove-sampled.js";
import { detail, table, tiny } from "../../assets/page/prove-table.js";
import { addressOf, asked } from "../../assets/page/tabs.js";
import { teller } from "../../assets/page/tell.js";
import { reel } from "../../assets/page/reel.js";
import { chart } from "../../assets/page/theory-chart.js";
import { formulas } from "../../assets/page/theory-formulas.js";
import { laws, stepOf } from "../../assets/page/theory-laws.js";
import { alphaNeeded, curve, lawsOf, MOST, PAIRS, shares, sloped, summary, textOf, withChance } from "../../assets/page/theory-numbers.js";
import { PUBLISHED, published } from "../../assets/page/theory-published.js";
import { translator } from "../../assets/player/labels.js";
import { flat, speedup } from "../../assets/player/theory.js";
import { all, asset, strings, words } from "./fixtures.js";

const goldens = JSON.parse(asset("theory-goldens.json"));
const close = (a, b, within = 1e-9) => assert.ok(Math.abs(a - b) < within, `${a} ≠ ${b}`);
const sum = (list) => list.reduce((total, value) => total + value, 0);
const languages = Object.keys(strings);
const sayings = (part) => languages.map((language) => teller(strings, part, language));

test("the address names the tab, the first one by its absence", () => {
  assert.equal(asked({ tab: "theory" }), "theory");
  for (const query of [{}, { tab: "nonsense" }, { tab: "prove", view: "present" }]) assert.equal(asked(query), "watch");
  const here = { pathname: "/sub/", search: "?lang=zh&tab=prove&gamma=3" };
  assert.equal(addressOf("watch", here), "/sub/?lang=zh&gamma=3");
  assert.equal(addressOf("theory", here), "/sub/?lang=zh&gamma=3&tab=theory");
});

test("the curve has the golden best γ, and crosses one where it says", () => {
  for (const { alpha, c, best_gamma: best, speedup: top, most } of goldens.best_gamma) {
    const found = summary(alpha, c, flat);
    if (most === MOST) assert.equal(found.best, best);
    close(found.values[best], top);
  }
  for (const [alpha, c, slope] of [[0.8, 0.1, 0.05], [0.5, 0.5, 0], [0.95, 0.01, 0], [0.2, 0.3, 0.2]]) {
    const { values, even } = summary(alpha, c, sloped(slope));
    values.forEach((value, gamma) => assert.equal(value >= 1, gamma <= even, `γ ${gamma}`));
  }
});

test("the α that is needed makes the speedup one", () => {
  for (const [gamma, c, slope] of [[4, 0.1, 0.05], [1, 0.3, 0], [16, 0.02, 0.01]]) {
    const v = sloped(slope);
    close(speedup(alphaNeeded(gamma, c, v), gamma, c, v), 1, 1e-6);
  }
  assert.equal(alphaNeeded(0, 1, flat), 0);
  assert.equal(alphaNeeded(4, 1, sloped(0.5)), null);
});

test("a bent law stays a law", () => {
  const law = PAIRS.alike.p;
  for (const chance of [0, 0.2, 1, 1.7, -3]) {
    const bent = withChance(law, 2, chance);
    close(sum(bent), 1);
    close(bent[2], Math.min(1, Math.max(0, chance)));
    if (chance === 0.2) close(bent[0] / bent[1], law[0] / law[1]);
  }
  close(sum(withChance([0, 1, 0], 1, 0.4)), 1);
  close(withChance([0, 1, 0], 1, 0.4)[0], 0.3);
});

test("what is kept and what the residual gives are p again", () => {
  const golden = goldens.beta.map(({ p, q }) => ({ p, q }));
  for (const { p, q } of [...Object.values(PAIRS), ...golden]) {
    const { beta, rows } = shares(p, q);
    close(sum(rows.map(({ shared }) => shared)), beta);
    close(sum(rows.map(({ wrong }) => wrong)), 1 - beta, 1e-6);
    for (const row of rows) close(row.emitted, row.p, 1e-6);
  }
  for (const { p, q, beta } of goldens.beta) close(shares(p, q).beta, beta);
});

test("the formulas carry the golden numbers", () => {
  for (const say of sayings("theory")) {
    const both = { flat: summary(0.8, 0.02, flat), sloping: summary(0.8, 0.02, sloped(0.1)) };
    const rows = formulas({ alpha: 0.8, gamma: 5, c: 0.02, slope: 0.1 }, both, say);
    const result = Object.fromEntries(rows.map((row) => [row.attributes["data-row"], words(row.children.at(-1))]));
    assert.equal(result.tau, "3.69");
    assert.equal(result.used, "54 %");
    assert.equal(result.drafted, "73 %");
    assert.equal(result.arithmetic, "1.63×");
    assert.equal(result.best_flat, "γ = 11, 3.8×");
  }
});

test("what is never slower is said as far as it was looked at", () => {
  const level = summary(0.9, 0, flat);
  for (const say of sayings("theory")) {
    const row = formulas({ alpha: 0.9, gamma: 5, c: 0, slope: 0 }, { flat: level, sloping: level }, say).find(({ attributes }) => attributes["data-row"] === "even_gamma");
    assert.equal(words(row.children.at(-1)), `γ ≤ ${MOST}`);
  }
});

test("every text of the tabs is there in every language", () => {
  for (const say of sayings("theory")) {
    const level = summary(1, 0, flat);
    const shown = [
      formulas({ alpha: 1, gamma: 0, c: 1, slope: 0.5 }, { flat: level, sloping: summary(0.1, 1, sloped(0.5)) }, say),
      chart({ flat: level, slope: level, gamma: 3, width: 300, say }),
      laws(shares(PAIRS.sure.p, PAIRS.sure.q), ["a", "b", "c", "d", "e", "f"], say),
      published(say),
    ];
    assert.doesNotMatch(words(shown), /theory\.|\{\w+\}|NaN|undefined/);
  }
});

test("bars answer to keys; those of p and q alone", () => {
  assert.equal(stepOf("ArrowUp"), 0.01);
  assert.equal(stepOf("PageDown"), -0.1);
  assert.equal(stepOf("a"), null);
  const [say] = sayings("theory");
  const sliders = all(laws(shares(PAIRS.alike.p, PAIRS.alike.q), [..."abcdef"], say), "div").filter(({ attributes }) => attributes.role === "slider");
  assert.equal(sliders.length, 12);
});

test("what papers say is quoted with its source", () => {
  for (const { arxiv, says } of PUBLISHED) {
    assert.match(arxiv, /^\d{4}\.\d{5}$/);
    assert.match(says, /\d(\.\d+)?[xX]/);
  }
});

test("curves are as long as the chart", () => {
  assert.equal(curve(0.8, 0.1, flat).length, MOST + 1);
});

const ROW = {
  rule: "biased",
  passed: { a: true, b: false, c: false, d: true },
  as_promised: true,
  greedy: { same: 40, of: 40 },
  sampled: { n: 20000, distance: 0.2, high: 0.02, p_value: 0 },
  joints: { 3: { distance: 0.236, texts: [[[0, 1, 1], 0.4, 0.6]] }, 2: { distance: 0.1, texts: [[[0, 1], 0.5, 0.6]] } },
  waste: { tau: 2, correct: 2.2, exact: -0.1, fewer: 3, more: 1, rounds: 400 },
};

test("the table marks what failed and waits for what is not there", () => {
  const [say] = sayings("prove");
  const rules = [{ id: "biased", badge: "biased" }, { id: "later", badge: "lossless" }];
  const name = (id) => id;
  const drawn = table({ rules, rows: new Map([["biased", ROW]]), chosen: "biased", name, badge: name, say });
  const refused = all(drawn, "td").filter(({ attributes }) => attributes.class === "sp-refused");
  assert.deepEqual(refused.map(({ attributes }) => attributes["data-test"]), ["b", "c"]);
  assert.equal(all(drawn, "td").filter(({ attributes }) => attributes.class === "sp-pending").length, 4);
  assert.equal(tiny(2.3e-7), "10⁻⁷");
  assert.equal(tiny(0.236), "0.236");
});

const SAMPLED = {
  state: "done",
  rule: "rejection",
  context: "</script>${7*6}",
  beta: 0.5,
  n: 1000,
  of: 1000,
  accepted: 510,
  cells: [[["<img src=x>", "text"], 0.7, 0.2, 690], [[" a\n", "text"], 0.2, 0.7, 210], [null, 0.1, 0.1, 100]],
  history: [[100, 0.1, 0.05, 0, 0.26, 0.4], [1000, 0.01, 0.02, 0, 0.08, 0.6]],
  chi2: 1.2,
  degrees: 2,
  p_value: 0.6,
  passed: true,
};

test("sampled decisions: every cell, the distance and its band, words as text", () => {
  for (const say of sayings("prove")) {
    const drawn = sampledResult(SAMPLED, "R", 300, say);
    const text = words(drawn);
    for (const part of ["<img␣src=x>", "␣a⏎", "0.6900", "0.0100", "51.0 %", "</script>${7*6}"]) assert.ok(text.includes(part), part);
    assert.doesNotMatch(text, /prove\.|\{\w+\}|NaN|undefined/);
    assert.doesNotMatch(JSON.stringify(all(drawn, "path")), /NaN/);
  }
});

test("greedy texts: the first token that differs is marked in both", () => {
  assert.equal(common(["a", "b", "c"], ["a", "x"]), 1);
  assert.equal(common(["a"], ["a", "b"]), 1);
  const state = { state: "done", dtype: "bfloat16", exact: false, speculative: ["a", " b", "c"], baseline: ["a", " x", "y"], identical: false, same: 1, of: 3 };
  for (const say of sayings("prove")) {
    const divergence = { gap: 0.03, difference: 0.02, tie: true };
    const drawn = greedyResult({ ...state, divergence }, "R", say);
    assert.deepEqual(all(drawn, "mark").map(words), [" b", " x"]);
    assert.match(words(drawn), /0\.030/);
    const cut = greedyResult({ ...state, baseline: ["a"], divergence: null, state: "stopped" }, "R", say);
    assert.equal(all(cut, "mark").length, 0);
    assert.doesNotMatch(words([drawn, cut]), /prove\.|\{\w+\}|undefined/);
  }
});

test("a tab's settings come back from its address, and nonsense is passed over", () => {
  const plain = { alpha: 0.8, gamma: 5, rule: "rejection", prompt: "hello" };
  const ranges = { alpha: [0, 1], gamma: [0, 32], rule: ["rejection", "block"] };
  const values = { alpha: 0.35, gamma: 5, rule: "block", prompt: "a & b = 投" };
  const search = searchWith("t", values, plain, "?lang=zh&t.gamma=9&other.alpha=1");
  assert.equal(new URLSearchParams(search).get("t.gamma"), null);
  assert.deepEqual([...new URLSearchParams(search)].slice(0, 2), [["lang", "zh"], ["other.alpha", "1"]]);
  assert.deepEqual(kept("t", plain, ranges, Object.fromEntries(new URLSearchParams(search))), values);
  for (const wrong of [{ "t.alpha": "2" }, { "t.alpha": "x" }, { "t.alpha": "" }, { "t.rule": "magic" }, { "t.nonsense": "1" }, { "t.prompt": "x".repeat(9000) }]) assert.deepEqual(kept("t", plain, ranges, wrong), plain);
});

test("two laws go into an address and come back", () => {
  for (const pair of Object.values(PAIRS)) assert.equal(lawsOf(textOf(pair)), pair);
  const bent = { p: withChance(PAIRS.alike.p, 1, 0.7), q: PAIRS.alike.q };
  const back = lawsOf(textOf(bent));
  back.p.forEach((chance, i) => close(chance, bent.p[i], 1e-3));
  for (const wrong of ["", "1 0/0 1", "a b c d e f/1 0 0 0 0 0", "2 0 0 0 0 0/1 0 0 0 0 0", "-1 2 0 0 0 0/1 0 0 0 0 0"]) assert.equal(lawsOf(wrong), null);
});

test("one rule closely: the exact law of as many tokens as chosen", () => {
  for (const say of sayings("prove")) {
    const name = (id) => id;
    const rule = { id: "biased", badge: "biased", side: "target", source: "" };
    const drawn = (length) => detail({ rule, row: ROW, length, lengths: [2, 3], name, about: name, badge: name, source: () => "", say: (key, params) => (key.startsWith("side.") ? key : say(key, params)) });
    assert.match(words(drawn(3)), /0\.236/);
    assert.match(words(drawn(2)), /0\.100/);
    const pressed = all(drawn(2), "button").filter(({ attributes }) => attributes["aria-pressed"] === "true");
    assert.deepEqual(pressed.map(words), ["2"]);
    assert.doesNotMatch(words(drawn(2)), /prove\.|\{\w+\}|undefined/);
  }
});

test("two number types: where the target alone parts from itself, and how close its choice was", () => {
  const one = { dtype: "float32", baseline: ["a", " b", "c"], margins: [3, 0.04, 2] };
  const other = { dtype: "bfloat16", baseline: ["a", " x"], margins: [3, 0.125] };
  for (const say of sayings("prove")) {
    const parted = across(one, other, say);
    for (const part of ["float32", "bfloat16", "0.040", "0.13", "␣b", "␣x", "2"]) assert.ok(parted.includes(part), `${part}: ${parted}`);
    assert.match(across(one, { ...other, baseline: ["a"] }, say), /1/);
    const state = { ...one, state: "done", exact: false, speculative: one.baseline, identical: true, same: 3, of: 3, beside: 538_000_000 };
    const drawn = words(greedyResult(state, "R", say, [other]));
    assert.ok(drawn.includes("538") && drawn.includes(parted));
    assert.doesNotMatch(drawn, /prove\.|\{\w+\}|undefined/);
  }
});

test("a number field that is empty is being written: nothing changes yet", () => {
  const tab = Object.assign(Object.create(Prove.prototype), { asked: { seed: 7, prompt: "a" }, draw: () => {}, plain: {} });
  tab.changed({ name: "seed", value: "" });
  assert.equal(tab.asked.seed, 7);
});

test("every tool over the stage has its icon, and a run that says no temperature gets none", () => {
  const [language] = languages;
  const shown = { buffer: { lines: 1 }, key: "", source: "" };
  const runs = [{ number: 1, settings: { drafter: "ngram", gamma: 4 } }];
  const problem = { [language]: "so it is" };
  const drawn = reel({ t: translator(strings, language), traces: [], shown, runs, whole: true, problem, without: [], leads: true, say: (key) => key });
  const icons = all(drawn, "svg");
  assert.equal(icons.length, 7);
  for (const icon of icons) assert.ok(all(icon, "path")[0].attributes.d);
  assert.match(words(drawn), /γ 4 T –/);
});
