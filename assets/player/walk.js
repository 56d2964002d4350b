// A walk through one round in six steps, with the formula, the KV cache and the lines of `verify` beside it.

import { h } from "./dom.js";
import { chance, fixed } from "./format.js";
import { quoted, sourceName } from "./facts.js";
import { grid, shortTitle } from "./grid.js";
import { icon } from "./icons.js";
import { inspect, verdict } from "./inspector.js";
import { TAUGHT, bound, keepsLaw, ruleOf, testOf } from "./rules.js";
import { LAST, slotOf } from "./tokens.js";

export const STEPS = ["draft", "pass", "test", "draw", "commit", "rollback"];

// Which lines of the source belong to a step: those that hold one of these words. The text itself is handed in.
const LIT = {
  draft: ["drafter.propose("],
  pass: ["target.extend(", "def verify("],
  test: ["coin.uniform()", "tests.append(", "in enumerate("],
  residual: ["if not tests", "residual(p[", "Fate.RESAMPLED"],
  bonus: ["Fate.BONUS"],
  commit: ["tokens += ", "output.take("],
  rollback: ["target.rollback("],
};

/** The stages of a round in order: {step, index}; the test has one stage for each tested guess. */
export function stagesOf(round) {
  const { judged, drafted } = round;
  const tested = judged.fates.filter((fate) => fate !== "discarded").length;
  const tests = [...Array(tested).keys()].map((index) => ({ step: "test", index }));
  const draw = judged.emitted_fates.at(-1) === "accepted" ? [] : [{ step: "draw", index: judged.emitted.length - 1 }];
  return [{ step: "draft" }, { step: "pass" }, ...tests, ...draw, { step: "commit" }, { step: "rollback" }].map(
    (stage) => ({ index: drafted.tokens.length, ...stage }),
  );
}

/** What the grid shows at a stage: `reveal(row, column)` is "plain" (no fate yet), true or false. */
export function revealAt(round, stage) {
  const order = STEPS.indexOf(stage.step);
  return (row, column) => {
    if (row === "guess") return order < 2 || (order === 2 && column > stage.index) ? "plain" : true;
    if (order > 2) return true;
    const accepted = round.judged.emitted_fates[column] === "accepted";
    return order === 2 && accepted && column <= stage.index;
  };
}

/**
 * The cells of the target's KV cache that the round writes: {string, state} with state "fed", "kept", "rolled" or "free".
 * `before` cells were there already. A pass feeds the last token of the text and the guesses; the token drawn at the
 * end is not in the cache yet, the next pass writes it where the first rolled-back cell was. Where nothing was drawn the
 * last guess is forgotten too: the next pass must feed it again to have the law behind it.
 */
export function cacheAt(lane, round, stage, timeline) {
  const order = STEPS.indexOf(stage.step);
  const context = lane.started.prompt.length + round.first;
  const previous = round.first > 0 ? lane.tokens[round.first - 1].id : lane.started.prompt.at(-1);
  const emitted = round.judged.emitted.length;
  const fed = [previous, ...round.drafted.tokens];
  const cells = fed.map((id, i) => ({ string: timeline.string(id), state: cellState(order, i < emitted) }));
  const drawn = round.judged.emitted_fates.at(-1) !== "accepted" ? slotOf(round, LAST, timeline) : null;
  return { before: context - 1, cells, next: order === 5 ? drawn : null };
}

function cellState(order, stays) {
  if (order < 1) return "free";
  if (order < 5) return "fed";
  return stays ? "kept" : "rolled";
}

/** The panel: closed it is one button. `source` is the text of `verify`, a string, or null. */
export function walk(model, source) {
  const { t, ui, race } = model;
  const round = race.speculative?.round;
  const toggle = h(
    "button",
    {
      key: "toggle",
      type: "button",
      class: "sd-walk-open",
      "data-do": "walk",
      "aria-expanded": String(ui.walk),
      "aria-disabled": round ? null : "true",
    },
    t(ui.walk ? "walk.close" : "walk.open"),
  );
  // Open and closed the button stays one node, so that it keeps the focus.
  if (!ui.walk || !round) return h("div", { key: "walk", class: "sd-walk" }, h("div", { class: "sd-walk-head" }, toggle));
  const stages = stagesOf(round);
  const at = Math.min(ui.stage, stages.length - 1);
  return h(
    "div",
    { key: "walk", class: "sd-walk sd-walk-on" },
    h("div", { class: "sd-walk-head" }, h("h3", { class: "sd-title" }, shortTitle(round, t)), toggle),
    stepper(stages, at, t),
    stageView(model, round, stages[at], source),
    moves(at, stages.length, t),
  );
}

function stepper(stages, at, t) {
  const now = STEPS.indexOf(stages[at].step);
  const entry = (step, i) => {
    const target = stages.findIndex((stage) => stage.step === step);
    const state = i < now ? "sd-done" : i === now ? "sd-now" : "";
    return h(
      "li",
      { class: state },
      h(
        "button",
        {
          type: "button",
          "data-do": "stage",
          "data-stage": String(target),
          "aria-current": i === now ? "step" : null,
          "aria-disabled": target < 0 ? "true" : null,
        },
        h("b", {}, String(i + 1)),
        h("span", {}, t(`walk.${step}.name`)),
      ),
    );
  };
  return h("ol", { class: "sd-stepper" }, STEPS.map(entry));
}

function stageView(model, round, stage, source) {
  const { t, race } = model;
  const lane = race.speculative;
  return h(
    "div",
    { class: "sd-stage-view" },
    h(
      "div",
      { class: "sd-stage-text" },
      h("p", { class: "sd-stage-said" }, said(lane.lane, round, stage, model)),
      h("p", { class: "sd-formula" }, formula(lane.lane, round, stage, model)),
    ),
    h("div", { class: "sd-grid-box" }, grid(model, lane, round, revealAt(round, stage))),
    cache(lane.lane, round, stage, model),
    source && ruleOf(lane.lane).id === TAUGHT ? listing(source, stage, round, t) : null,
  );
}

function kindOfDraw(round) {
  return { resampled: "residual", bonus: "bonus", plain: "plain" }[round.judged.emitted_fates.at(-1)] || "bonus";
}

/** What happens at a stage, as one sentence. */
export function said(lane, round, stage, { t, timeline, state }) {
  const rule = ruleOf(lane);
  const greedy = lane.started.greedy;
  const drafted = round.drafted.tokens.length;
  const params = {
    count: drafted,
    width: drafted + 1,
    emitted: round.judged.emitted.length,
    source: sourceName(round, lane, t),
  };
  const last = slotOf(round, LAST, timeline);
  if (last) params.token = quoted(last.string);
  if (stage.step === "test") {
    const kind = testOf(rule, stage.index);
    if (kind === "believed" || (kind !== "ratio" && !greedy))
      return verdict(inspect(state, { lane: lane.name, round: round.number, slot: stage.index }, timeline), t);
    const guess = slotOf(round, stage.index, timeline);
    const key = `walk.test.${guess.fate === "accepted" ? "kept" : "fell"}_${greedy ? "greedy" : "drawn"}`;
    return t(key, { ...params, guess: quoted(guess.string), number: stage.index + 1 });
  }
  if (stage.step === "draw") return t(drawKey(round, rule, greedy), { ...params, drawn: t(`rule.drawn_${rule.drawn}`) });
  if (stage.step === "rollback") {
    const drew = round.judged.emitted_fates.at(-1) !== "accepted";
    return t(`walk.rollback.said${drew ? "" : "_none"}`, { ...params, rolled: rolledBack(round) });
  }
  return t(drafted || stage.step === "commit" ? `walk.${stage.step}.said` : `walk.${stage.step}.idle`, params);
}

function drawKey(round, rule, greedy) {
  const kind = kindOfDraw(round);
  const sound = rule.drawn === "residual" && keepsLaw(rule, greedy);
  if (kind === "residual" && !greedy && !sound) return "walk.draw.other";
  return `walk.draw.${kind}_${greedy || (kind !== "residual" && rule.drawn === "choice") ? "greedy" : "drawn"}`;
}

function rolledBack(round) {
  return round.drafted.tokens.length + 1 - round.judged.emitted.length;
}

function formula(lane, round, stage, { t }) {
  const test = stage.step === "test" ? round.judged.tests[stage.index] : null;
  if (test) return testFormula(ruleOf(lane), stage.index, test, lane.started.greedy, t);
  return t(stage.step === "draw" ? drawFormula(round, ruleOf(lane)) : `walk.${stage.step}.formula`, {
    gamma: round.drafted.tokens.length,
    emitted: round.judged.emitted.length,
    rolled: rolledBack(round),
  });
}

function testFormula(rule, slot, test, greedy, t) {
  const kind = testOf(rule, slot);
  if (kind === "believed") return t("walk.test.formula_believed");
  if (greedy) return t("walk.test.formula");
  const edge = bound(rule, slot, test);
  if (edge === null) return t(`walk.test.formula_${kind === "match" ? rule.drawn : kind}`);
  const sign = test.u < edge ? "<" : "≥";
  if (kind === "block") return `u = ${fixed(test.u, 2)} ${sign} h = ${fixed(edge, 2)}`;
  return `u = ${fixed(test.u, 2)} ${sign} p(x)/q(x) = ${chance(test.p)}/${chance(test.q)} = ${fixed(edge, 2)}`;
}

function drawFormula(round, rule) {
  const kind = kindOfDraw(round);
  return `walk.draw.formula_${kind === "residual" && rule.drawn !== "residual" ? rule.drawn : kind}`;
}

function cache(lane, round, stage, { t, timeline }) {
  const { before, cells, next } = cacheAt(lane, round, stage, timeline);
  let refilled = false;
  const cell = ({ string, state }) => {
    const first = state === "rolled" && next && !refilled;
    refilled = refilled || first;
    return h(
      "li",
      { class: `sd-cache-cell sd-cache-${state}`, title: t(`walk.cache_${state}`) },
      h("span", {}, quoted(string)),
      first ? h("em", {}, t("walk.cache_next", { token: quoted(next.string) })) : null,
    );
  };
  return h(
    "div",
    { class: "sd-cache" },
    h("h4", {}, t("walk.cache")),
    h(
      "ol",
      { class: "sd-cache-cells" },
      h("li", { class: "sd-cache-cell sd-cache-before" }, t("walk.cache_before", { count: before })),
      cells.map(cell),
      next && !refilled
        ? h(
            "li",
            { class: "sd-cache-cell sd-cache-free" },
            h("em", {}, t("walk.cache_next", { token: quoted(next.string) })),
          )
        : null,
    ),
  );
}

/** The lines of the source without its docstring. */
export function linesOf(source) {
  return source
    .replace(/^ *"""[^]*?""" *\n/m, "")
    .trimEnd()
    .split("\n");
}

/** The numbers (from 0) of the lines to light at a stage. */
export function litLines(lines, stage, round) {
  const words = stage.step === "draw" ? (LIT[kindOfDraw(round)] ?? LIT.bonus) : LIT[stage.step];
  return lines.flatMap((line, i) => (words.some((word) => line.includes(word)) ? [i] : []));
}

function listing(source, stage, round, t) {
  const lines = linesOf(source);
  const lit = litLines(lines, stage, round);
  return h(
    "div",
    { class: "sd-listing", tabindex: "0", role: "group", "aria-label": t("walk.code") },
    lines.map((line, i) =>
      h(
        "code",
        { class: lit.includes(i) ? "sd-lit" : null, "aria-current": lit.includes(i) ? "true" : null },
        line || " ",
      ),
    ),
  );
}

function moves(at, count, t) {
  const button = (action, name, disabled) =>
    h(
      "button",
      { type: "button", class: "sd-button sd-wide", "data-do": action, "aria-disabled": disabled ? "true" : null },
      name === "previous" ? icon(name) : null,
      t(`walk.${name}`),
      name === "next" ? icon(name) : null,
    );
  return h(
    "div",
    { class: "sd-walk-moves" },
    button("walk-back", "previous", at === 0),
    h("span", { class: "sd-place" }, `${at + 1} / ${count}`),
    button("walk-step", "next", at === count - 1),
  );
}
