// The current round as a grid: columns 1 … γ+1, the guesses above, what was kept below.

import { h } from "./dom.js";
import { label } from "./format.js";
import { MARKS, fateWord, quoted } from "./facts.js";
import { TAUGHT, ruleName, ruleOf } from "./rules.js";
import { LAST, slotOf } from "./tokens.js";

/** The grid of the current round of the chosen lane, with its sentence. */
export function roundGrid(model) {
  const { t, race } = model;
  const lane = race.speculative;
  const round = lane?.round;
  return [
    h("h3", { class: "sd-title" }, round ? title(round, ruleOf(lane.lane), t) : t("round.none")),
    h("div", { class: "sd-grid-box" }, grid(model, lane, round)),
    h("p", { class: "sd-caption" }, round ? caption(round, lane.lane, model) : t("round.hint")),
  ];
}

/** The round in a few numbers, for where there is no room for sentences. */
export function shortTitle(round, t) {
  if (!round) return t("round.none_short");
  return t("round.title_short", {
    number: round.number,
    drafted: round.drafted.tokens.length,
    width: round.drafted.tokens.length + 1,
    kept: round.judged.emitted.length,
  });
}

function title(round, rule, t) {
  const drafted = round.drafted.tokens.length;
  const key = !drafted ? "round.title_idle" : rule.id === TAUGHT ? "round.title" : "round.title_rule";
  return t(key, { number: round.number, drafted, width: drafted + 1, rule: ruleName(rule, t) });
}

/** Columns of the widest round that the lane may have, so that the grid keeps its size. */
export function columnsOf(lane, header) {
  return Math.max(2, (lane?.lane.started?.gamma ?? header?.settings?.gamma ?? 4) + 1);
}

/** The cells, two rows; `reveal` tells which of them to show yet (see walk.js), all by default. */
export function grid(model, lane, round, reveal = () => true) {
  const { t } = model;
  const columns = columnsOf(lane, model.header);
  const at = [...Array(columns).keys()];
  return h(
    "div",
    { class: "sd-grid", style: `--sd-columns:${columns}`, role: "group", "aria-label": t("round.grid") },
    h("span", { class: "sd-grid-head sd-grid-corner" }, t("round.position")),
    at.map((i) => h("span", { class: "sd-grid-number", "aria-hidden": "true" }, String(i + 1))),
    h("span", { class: "sd-grid-head" }, t("round.guess")),
    at.map((i) => cell(model, lane, round, guessAt(round, i, model.timeline), reveal("guess", i))),
    h("span", { class: "sd-grid-head" }, t("round.kept")),
    at.map((i) => cell(model, lane, round, keptAt(round, i, model.timeline), reveal("kept", i))),
  );
}

function guessAt(round, i, timeline) {
  if (!round || i >= round.drafted.tokens.length) return null;
  // Behind the end of the run: drafted, but counted nowhere.
  return slotOf(round, i, timeline) || { string: timeline.string(round.drafted.tokens[i]), fate: "cut", slot: null };
}

function keptAt(round, i, timeline) {
  if (!round || i >= round.judged.emitted.length) return null;
  const fate = round.judged.emitted_fates[i];
  return slotOf(round, fate === "accepted" ? i : LAST, timeline);
}

function cell({ t, ui, race }, lane, round, token, shown) {
  if (!token || !shown) return h("span", { class: "sd-cell sd-none" });
  const text = label(token.string);
  if (token.fate === "cut" || shown === "plain")
    return h(
      "span",
      { class: `sd-cell sd-${token.fate === "cut" ? "cut" : "open"}`, title: text },
      h("span", { class: "sd-cell-text" }, text),
    );
  const name = lane.lane.name;
  const selected =
    ui.selected && ui.selected.lane === name && ui.selected.round === round.number && ui.selected.slot === token.slot;
  const word = fateWord(token.fate, race.speculative.lane.started.greedy, t);
  return h(
    "button",
    {
      type: "button",
      class: `sd-cell sd-${token.fate}${selected ? " sd-selected" : ""}`,
      title: text,
      "data-do": "select",
      "data-lane": name,
      "data-round": String(round.number),
      "data-slot": String(token.slot),
      "aria-label": `${quoted(token.string)}, ${word}`,
    },
    h("span", { class: "sd-cell-text" }, text),
    h("i", { class: "sd-mark", "aria-hidden": "true" }, MARKS[token.fate]),
  );
}

/** What became of a round, as one sentence. */
export function caption(round, lane, { t, timeline }) {
  const { judged, drafted } = round;
  const greedy = lane.started.greedy;
  const rule = ruleOf(lane);
  const last = slotOf(round, LAST, timeline);
  const token = last ? quoted(last.string) : "";
  if (drafted.tokens.length === 0)
    return t(drafted.skipped ? "round.skipped" : "round.idle", { token, skipped: drafted.skipped });
  const fallen = judged.fates.indexOf("rejected");
  if (fallen >= 0) {
    const discarded = judged.fates.length - fallen - 1;
    const key = `round.${discarded ? "fell" : "fell_last"}_${greedy ? "greedy" : rule.drawn === "residual" ? "drawn" : "other"}`;
    const drawn = t(`rule.drawn_${rule.drawn}`);
    return t(key, { guess: quoted(slotOf(round, fallen, timeline).string), token, discarded, drawn });
  }
  if (!last) {
    const skipped = rule.badge === "wasteful" && !(lane.finished && round === lane.rounds.at(-1));
    return t(skipped ? "round.bonus_skipped" : "round.ended", { count: judged.emitted.length });
  }
  return t(greedy || rule.drawn === "choice" ? "round.bonus_greedy" : "round.bonus_drawn", { count: judged.fates.length, token });
}
