// Runs under every rule: what is said of them is true of that rule, in both languages.
import assert from "node:assert/strict";
import test from "node:test";

import { raceAt } from "../../assets/player/compare.js";
import { laneDraft } from "../../assets/player/facts.js";
import { caption, roundGrid } from "../../assets/player/grid.js";
import { banner, headline, sameWords } from "../../assets/player/hero.js";
import { inspect, inspector, verdict } from "../../assets/player/inspector.js";
import { translator } from "../../assets/player/labels.js";
import { legend } from "../../assets/player/legend.js";
import { IDS, bound, keepsLaw, rule, ruleOf } from "../../assets/player/rules.js";
import { stateAt } from "../../assets/player/state.js";
import { slots } from "../../assets/player/tokens.js";
import { cacheAt, said, stagesOf, walk } from "../../assets/player/walk.js";
import { strings, text, timelineOf } from "./fixtures.js";

const words = (node) => (Array.isArray(node) ? node.map(words).join("") : typeof node === "object" && node ? words(node.children) : String(node ?? ""));

/** The runs of the fixture: {id, greedy, timeline, state, race, lane}. */
const runs = text("rules")
  .split(/(?=^\{"specdemo")/m)
  .map((ndjson) => {
    const timeline = timelineOf(ndjson);
    const state = stateAt(timeline, timeline.steps.length);
    const race = raceAt(state, null);
    const { lane } = race.speculative;
    return { id: ruleOf(lane).id, greedy: lane.started.greedy, timeline, state, race, lane };
  });
const of = (id, greedy = false) => runs.find((run) => run.id === id && run.greedy === greedy);
const modelOf = ({ timeline, state, race, greedy }, t, ui = {}) => ({ t, timeline, state, race, greedy, header: timeline.header, ui: { selected: null, walk: true, stage: 0, ...ui } });
const en = translator(strings, "en");

test("there is a run of every rule", () => {
  assert.deepEqual([...new Set(runs.map(({ id }) => id))], IDS);
});

test("an older trace names no rule and was judged by rejection sampling", () => {
  assert.equal(ruleOf(timelineOf(text("sampled")).lanes[0]).id, "rejection");
  assert.equal(rule("new-one").badge, null);
  assert.equal(rule("toString").badge, null);
});

test("every sentence about every token, round and stage is whole, in both languages", () => {
  for (const language of Object.keys(strings)) {
    const t = translator(strings, language);
    for (const run of runs) {
      const model = modelOf(run, t);
      for (const round of run.lane.rounds) {
        const selections = slots(round, run.timeline).map(({ slot }) => ({ lane: run.lane.name, round: round.number, slot }));
        const drawn = [
          caption(round, run.lane, model),
          selections.map((selected) => inspector(modelOf(run, t, { selected }))),
          stagesOf(round).map((stage, i) => [said(run.lane, round, stage, model), walk({ ...model, race: { ...run.race, speculative: { ...run.race.speculative, round } }, ui: { ...model.ui, stage: i } }, "def verify():")]),
        ];
        assert.doesNotMatch(words(drawn).replace(/“[^”]*”/g, ""), /undefined|NaN|\{\w+\}|(verdict|inspector|ui)\.[a-z]|walk\.(draw|test|draft|pass|commit)|round\.(fell|bonus|title|ended)|rule\.drawn/, `${run.id} ${round.number}`);
      }
      for (const part of [banner(model), headline(model), legend(model), roundGrid(model), laneDraft(run.lane, t)]) assert.doesNotMatch(words(part), /undefined|\{\w+\}|(hero|rule|legend|ui)\.\w/);
    }
  }
});

test("only a rule that keeps the law claims to, and a banner says so of the others", () => {
  for (const run of runs) {
    const model = modelOf(run, en);
    const [title, warned] = [words(headline({ ...model, race: { ...run.race, phase: "finish", speedup: 1.5, comparison: { tokens: 40 } } })), words(banner(model))];
    const keeps = keepsLaw(ruleOf(run.lane), run.greedy);
    const before = stateAt(run.timeline, 1);
    assert.equal(/no promise/.test(words(headline({ ...model, race: { ...run.race, speculative: before.lanes[0], phase: "waiting" } }))), !keeps, run.id);
    assert.equal(/no promise of its law/.test(title), !keeps, `${run.id}: ${title}`);
    if (!run.greedy) assert.equal(/NOT/.test(warned), !keeps, `${run.id}: ${warned}`);
    if (!keeps) assert.ok(warned, run.id);
  }
  assert.match(words(banner(modelOf(of("bonus-skipped"), en))), /thrown away/);
  for (const id of ["rejection", "block", "sample-match", "shared-noise"]) assert.equal(banner(modelOf(of(id), en)), null);
});

test("lanes that share their noise are held to the same words at any temperature, others are not", () => {
  const shared = of("shared-noise");
  assert.deepEqual([shared.race.words, shared.race.greedy, shared.race.parts], [true, false, null]);
  assert.match(words(sameWords(shared.race, en)), /identical 16\/16 ✓/);
  assert.match(words(headline(modelOf({ ...shared, race: { ...shared.race, phase: "finish", speedup: 1.5, comparison: { tokens: 40 } } }, en))), /same words/);
  assert.equal(of("first-unverified").race.words, false);
  assert.equal(sameWords(of("first-unverified").race, en), null);
});

test("a coin is shown where one decided, with what it was held against", () => {
  for (const { id, greedy, lane } of runs.filter((run) => !run.greedy))
    for (const { judged } of lane.rounds)
      judged.tests.forEach((one, slot) => {
        const edge = bound(rule(id), slot, one);
        if (edge === null) return;
        assert.equal(one.u < edge, one.accepted, `${id} ${greedy}`);
        assert.equal(edge, id === "block" ? one.h : one.p / one.q);
      });
  assert.equal(bound(rule("first-unverified"), 0, { u: 0, p: 1, q: 1, h: 1 }), null);
  assert.equal(bound(rule("typical"), 0, { u: 0, p: 1, q: 1, h: 1 }), null);
});

test("a block is judged by its h, and a token may be saved by a longer one", () => {
  const { lane, state, timeline } = of("block");
  const sentences = lane.rounds.flatMap(({ number, judged }) => judged.fates.map((_, slot) => words(verdict(inspect(state, { lane: lane.name, round: number, slot }, timeline), en))));
  assert.ok(sentences.every((sentence) => / h = /.test(sentence)));
  const seen = { ...inspect(state, { lane: lane.name, round: 1, slot: 0 }, timeline) };
  const saved = { ...seen, token: { ...seen.token, fate: "accepted" }, test: { u: 0.9, p: 0.2, q: 0.5, h: 0.4, accepted: false } };
  assert.match(words(verdict(saved, en)), /longer block did/);
});

test("what stands in place of a fallen guess comes from where the rule took it", () => {
  const expected = { rejection: /what p has over q/, block: /weighted by the kept block/, "greedy-match": /first choice/, "sample-match": /own draw from p/, "shared-noise": /the noise that the draft used/, typical: /from p itself/, "resample-from-p": /from p itself/ };
  for (const [id, pattern] of Object.entries(expected)) {
    const { lane, state, timeline } = of(id);
    const round = lane.rounds.find(({ judged }) => judged.emitted_fates.at(-1) === "resampled");
    assert.ok(round, id);
    const model = modelOf(of(id), en);
    assert.match(caption(round, lane, model), pattern, id);
    const stage = stagesOf(round).find(({ step }) => step === "draw");
    if (id !== "rejection") assert.match(words(said(lane, round, stage, model)), pattern, id);
    if (id !== "rejection") assert.match(words(verdict(inspect(state, { lane: lane.name, round: round.number, slot: "last" }, timeline), en)), pattern, id);
  }
  const biased = of("argmax-draft");
  const round = biased.lane.rounds.find(({ judged }) => judged.emitted_fates.at(-1) === "resampled");
  const stage = stagesOf(round).find(({ step }) => step === "draw");
  assert.doesNotMatch(words(said(biased.lane, round, stage, modelOf(biased, en))), /follow p exactly/);
});

test("a first guess that nobody tested is called that, at T = 0 too", () => {
  for (const greedy of [true, false]) {
    const { lane, state, timeline } = of("first-unverified", greedy);
    const sentence = words(verdict(inspect(state, { lane: lane.name, round: 1, slot: 0 }, timeline), en));
    assert.match(sentence, /without a test/);
  }
});

test("a bonus thrown away leaves a round without a last token, whose last guess leaves the cache", () => {
  const run = of("bonus-skipped");
  const round = run.lane.rounds.slice(0, -1).find(({ judged, drafted }) => judged.emitted.length === drafted.tokens.length && judged.emitted_fates.every((fate) => fate === "accepted"));
  assert.match(caption(round, run.lane, modelOf(run, en)), /throws it away/);
  assert.ok(stagesOf(round).every(({ step }) => step !== "draw"));
  const { cells, next } = cacheAt(run.lane, round, stagesOf(round).at(-1), run.timeline);
  assert.equal(cells.at(-1).state, "rolled");
  assert.equal(next, null);
});

test("the source of the taught rule is not shown beside another", () => {
  const shown = (id) => words(walk(modelOf(of(id), en), "def verify():"));
  assert.match(shown("rejection"), /def verify/);
  assert.doesNotMatch(shown("block"), /def verify/);
});
