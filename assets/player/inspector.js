// One token under the glass: p, q, their ratio, the drawn u, the verdict, and the laws it came from.

import { h } from "./dom.js";
import { chance, fixed } from "./format.js";
import { MARKS, fateWord, quoted } from "./facts.js";
import { icon } from "./icons.js";
import { lawRows } from "./laws.js";
import { bound, ruleOf, testOf } from "./rules.js";
import { LAST, slotOf } from "./tokens.js";

/** The first token that failed its test up to a state: what the inspector opens on. */
export function firstRejected(state) {
  for (let i = 0; i < (state?.rounds ?? 0); i++) {
    const slot = state.lane.rounds[i].judged.fates.indexOf("rejected");
    if (slot >= 0) return { lane: state.lane.name, round: i + 1, slot };
  }
  return null;
}

/** All about a selected slot: {round, token, test, row, fallen, replacement, greedy, oneHot, …}; null if it is not there yet. */
export function inspect(state, selection, timeline) {
  const lane = selection && state.lanes.find((known) => known.lane.name === selection.lane);
  const round = lane && selection.round <= lane.rounds ? lane.lane.rounds[selection.round - 1] : null;
  const token = round && slotOf(round, selection.slot, timeline);
  if (!token) return null;
  const { fates, tests } = round.judged;
  const last = slotOf(round, LAST, timeline);
  const fallenAt = fates.indexOf("rejected");
  const index = token.slot === LAST ? (fallenAt >= 0 ? fallenAt : fates.length) : token.slot;
  const test = tests[fallenAt >= 0 && token.slot === LAST ? fallenAt : token.slot] || null;
  return {
    lane: lane.lane,
    round,
    token,
    test,
    index,
    row: token.fate === "discarded" ? null : (round.positions?.find((position) => position.index === index) ?? null),
    fallen: fallenAt >= 0 ? slotOf(round, fallenAt, timeline) : null,
    replacement: last && last.fate === "resampled" ? last : null,
    greedy: lane.lane.started.greedy,
    oneHot: test !== null && test.q === 1,
  };
}

/** The panel. */
export function inspector(model) {
  const { t, state, timeline, ui } = model;
  const seen = inspect(state, ui.selected, timeline);
  return h(
    "section",
    { class: `sd-panel sd-inspector${model.greedy ? " sd-inspector-greedy" : ""}`, "aria-label": t("inspector.label") },
    h(
      "div",
      { class: "sd-inspector-head" },
      h("h3", { class: "sd-title" }, seen ? heading(seen, t) : t("inspector.label")),
      arrows(t, Boolean(seen)),
    ),
    seen ? body(seen, model) : h("p", { class: "sd-empty" }, t("inspector.empty")),
    h("p", { class: "sd-hint" }, t("inspector.hint")),
  );
}

function heading({ token, round, greedy }, t) {
  const place =
    token.slot === LAST
      ? t("inspector.place_last", { round: round.number })
      : t("inspector.place", { round: round.number, guess: token.slot + 1 });
  return [
    h("span", { class: `sd-chip sd-ink-${token.fate}` }, `${MARKS[token.fate]} ${fateWord(token.fate, greedy, t)}`),
    h("span", { class: "sd-inspected" }, quoted(token.string)),
    h("span", { class: "sd-inspector-place" }, place),
  ];
}

function arrows(t, enabled) {
  const button = (action, name) =>
    h(
      "button",
      {
        type: "button",
        class: "sd-button",
        "data-do": action,
        "aria-label": t(`inspector.${name}`),
        title: t(`inspector.${name}`),
        "aria-disabled": enabled ? null : "true",
      },
      icon(name),
    );
  return h("span", { class: "sd-arrows" }, button("previous-token", "previous"), button("next-token", "next"));
}

function body(seen, model) {
  const { t } = model;
  const coin = seen.test && !seen.greedy && seen.token.slot !== LAST && boundOf(seen) !== null;
  return [
    coin ? numberLine(seen, t) : null,
    h("p", { class: `sd-verdict${coin ? "" : " sd-verdict-alone"}` }, verdict(seen, t)),
    aside(seen, t),
    numbers(seen, t),
    seen.row ? laws(seen, model) : missing(seen, t),
  ];
}

function boundOf({ lane, token, test }) {
  return bound(ruleOf(lane), token.slot, test);
}

// What must be said of q: that a lookup has none of its own, or that it is not the law the guess was drawn from.
function aside({ lane, token, test, greedy, oneHot }, t) {
  if (!test || greedy || token.slot === LAST) return null;
  const rule = ruleOf(lane);
  const key = rule.id === "argmax-draft" && !oneHot ? "argmax_draft" : oneHot && rule.test === "ratio" && rule.drawn === "residual" ? "one_hot" : null;
  return key && h("p", { class: "sd-aside" }, t(`inspector.${key}`));
}

// 0 … 1: kept where u falls below p/q, or below the h of a block.
function numberLine(seen, t) {
  const { test } = seen;
  const ratio = boundOf(seen);
  const name = testOf(ruleOf(seen.lane), seen.token.slot) === "block" ? "h" : "p/q";
  const edge = Math.min(1, ratio);
  const at = (x) => `left:${(100 * Math.min(1, x)).toFixed(2)}%`;
  const side = (x) => (x > 0.8 ? " sd-left" : x < 0.2 ? " sd-right" : "");
  return h(
    "div",
    { class: "sd-line", role: "img", "aria-label": t("inspector.line", { u: chance(test.u), name, ratio: fixed(ratio, 2) }) },
    h(
      "div",
      { class: "sd-line-kept", style: `width:${(100 * edge).toFixed(2)}%` },
      edge > 0.25 ? t("inspector.keeps") : "",
    ),
    h(
      "div",
      { class: "sd-line-fails", style: `width:${(100 * (1 - edge)).toFixed(2)}%` },
      edge < 0.75 ? t("inspector.fails") : "",
    ),
    h(
      "span",
      { class: `sd-tick sd-tick-ratio${side(edge)}`, style: at(edge) },
      h("span", {}, `${name} = ${fixed(ratio, 2)}`),
    ),
    h(
      "span",
      { class: `sd-tick sd-tick-u${side(test.u)}`, style: at(test.u) },
      h("span", {}, `u = ${fixed(test.u, 2)}`),
    ),
  );
}

/** The verdict as a sentence. */
export function verdict(seen, t) {
  const { token, test, fallen, replacement, greedy, round, lane, row } = seen;
  const word = h("b", { class: `sd-ink-${token.fate}` }, fateWord(token.fate, greedy, t));
  const params = {
    fate: word,
    token: quoted(token.string),
    fallen: fallen ? quoted(fallen.string) : "",
    guess: fallen ? fallen.slot + 1 : "",
    replacement: replacement ? quoted(replacement.string) : "",
    count: round.judged.fates.length,
    margin: row ? fixed(row.margin, 2) : "",
  };
  if (test)
    Object.assign(params, {
      p: chance(test.p),
      q: chance(test.q),
      ratio: fixed(test.p / test.q, 2),
      u: fixed(test.u, 2),
      h: fixed(test.h ?? test.p / test.q, 2),
    });
  params.drawn = t(`rule.drawn_${ruleOf(lane).drawn}`);
  return t.parts(`verdict.${verdictKey(token, test, greedy, row, lane)}`, params);
}

function verdictKey(token, test, greedy, row, lane) {
  const rule = ruleOf(lane);
  if (token.fate === "discarded") return "discarded";
  if (token.fate === "plain") return lane.baseline ? "baseline" : "plain";
  if (token.fate === "bonus") return `bonus_${greedy || rule.drawn === "choice" ? "greedy" : "drawn"}`;
  if (token.fate === "resampled") return `resampled_${greedy ? "greedy" : rule.drawn === "residual" ? "drawn" : "other"}`;
  if (!test) return `${token.fate}_untested`;
  const kind = testOf(rule, token.slot);
  if (kind === "believed") return "accepted_believed";
  if (greedy) return `${token.fate}_greedy${row ? "_margin" : ""}`;
  return token.fate === "accepted" ? keptKey(kind, test) : fellKey(kind, rule);
}

function keptKey(kind, test) {
  if (kind === "ratio") return test.p >= test.q ? "accepted_sure" : "accepted_drawn";
  if (kind === "block") return test.accepted ? "accepted_block" : "accepted_saved";
  return kind === "strange" ? "accepted_untested" : `accepted_${kind}`;
}

function fellKey(kind, rule) {
  if (kind === "ratio") return rule.drawn === "residual" ? "rejected_drawn" : "rejected_other";
  return kind === "strange" ? "rejected_untested" : `rejected_${kind}`;
}

function numbers({ test, row, greedy, token }, t) {
  const tested = test && token.slot !== LAST;
  const facts = [
    tested && !greedy ? ["p(x)", chance(test.p)] : null,
    tested && !greedy ? ["q(x)", chance(test.q)] : null,
    row && row.beta !== null && !greedy ? [t("inspector.beta"), chance(row.beta)] : null,
    row && greedy ? [t("inspector.margin"), fixed(row.margin, 2)] : null,
    row && !greedy ? [t("inspector.entropy_p"), fixed(row.p_entropy, 2)] : null,
    row && row.q_entropy !== null && !greedy ? [t("inspector.entropy_q"), fixed(row.q_entropy, 2)] : null,
  ].filter(Boolean);
  return facts.length
    ? h(
        "dl",
        { class: "sd-facts" },
        facts.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))),
      )
    : null;
}

// A bar is p; what q covers of it is the overlap, whose whole area is β; what p has over q is the residual.
function laws(seen, { t, timeline }) {
  const { row, token, test, replacement, fallen } = seen;
  const tested = row.q_top ? (token.slot === LAST ? (fallen?.id ?? null) : token.id) : null;
  const taken = token.slot === LAST ? token.id : (replacement?.id ?? null);
  const { rows, rest } = lawRows(row, test, tested, taken);
  const scale = Math.max(...rows.map((r) => Math.max(r.p.value, r.q ? r.q.value : 0)), 1e-9);
  return h(
    "div",
    { class: "sd-laws" },
    h(
      "div",
      { class: "sd-laws-head", "aria-hidden": "true" },
      h("span", {}),
      h("span", {}),
      h("span", { class: "sd-p" }, "p"),
      row.q_top
        ? [h("span", { class: "sd-q" }, "q"), h("span", { class: "sd-r" }, t("inspector.residual_short"))]
        : null,
    ),
    rows.map((r) => lawRow(r, scale, row, timeline)),
    restRow(rest, row, t),
    row.q_top ? key(row, t) : ruleOf(seen.lane).drawn === "choice" ? null : h("p", { class: "sd-hint" }, t("inspector.only_p")),
  );
}

function lawRow(r, scale, row, timeline) {
  const name = quoted(timeline.string(r.id));
  return h(
    "div",
    { class: `sd-law${r.tested ? " sd-law-tested" : ""}${r.taken ? " sd-law-taken" : ""}` },
    h("span", { class: "sd-law-token", title: name }, name),
    h(
      "span",
      { class: "sd-law-bar", "aria-hidden": "true" },
      piece(r.q ? "over" : "p", r.p.bound ? 0 : r.p.value / scale),
      r.q ? piece("q", r.q.bound ? 0 : r.q.value / scale) : null,
      r.q ? piece("both", r.p.bound ? 0 : r.overlap / scale) : null,
    ),
    number("sd-p", r.p),
    r.q ? [number("sd-q", r.q), h("span", { class: "sd-r" }, residualText(r.residual))] : null,
  );
}

function piece(name, part) {
  return part > 0.002 ? h("i", { class: `sd-law-${name}`, style: `width:${(100 * part).toFixed(2)}%` }) : null;
}

function number(name, { value, bound }) {
  return h("span", { class: name }, limited(value, bound));
}

function residualText({ value, bound }) {
  return value > 0 ? limited(value, bound) : "–";
}

// A limit below a hundredth says as much as the value itself would.
function limited(value, bound) {
  return bound && value >= 0.005 ? `≤${fixed(value, 2)}` : chance(value);
}

function restRow(rest, row, t) {
  if (rest.p < 0.005 && !(rest.q >= 0.005)) return null;
  return h(
    "div",
    { class: "sd-law sd-law-rest" },
    h("span", { class: "sd-law-token" }, t("inspector.rest")),
    h("span", { class: "sd-law-bar" }),
    h("span", { class: "sd-p" }, chance(rest.p)),
    row.q_top ? [h("span", { class: "sd-q" }, chance(rest.q)), h("span", { class: "sd-r" })] : null,
  );
}

function key(row, t) {
  const entry = (name, text) => h("li", {}, h("i", { class: `sd-key sd-law-${name}` }), text);
  return h(
    "ul",
    { class: "sd-laws-key" },
    entry("both", t("inspector.key_both", { beta: chance(row.beta) })),
    entry("over", t("inspector.key_over", { rest: chance(Math.max(0, 1 - row.beta)) })),
    entry("q", t("inspector.key_q")),
  );
}

function missing({ token, lane }, t) {
  if (token.fate === "discarded") return null;
  return h("p", { class: "sd-hint" }, t(lane.finished ? "inspector.no_laws" : "inspector.laws_later"));
}
