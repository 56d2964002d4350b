// The view for a projector: lanes, round and four numbers, large; no controls; numbers appear one by one when asked for.

import { h } from "./dom.js";
import { cardCaption, cardValue } from "./cards.js";
import { grid, shortTitle } from "./grid.js";
import { banner, headline, runningLine, sameWords } from "./hero.js";
import { expected, laneView, scene } from "./lanes.js";

const NUMBERS = ["alpha", "tau", "c", "v"];

/** What a click, space or Enter reveals, in this order. */
export const REVEALS = ["speedup", "same", ...NUMBERS];

/** The whole view. */
export function present(model, texts) {
  const { state, race, ui, t } = model;
  const shown = (name) => ui.revealed > REVEALS.indexOf(name);
  const goal = Math.max(1, ...state.lanes.map(expected));
  const same = sameWords(race, t);
  return h(
    "div",
    {
      class: "sd-present sd-stage",
      tabindex: "0",
      "data-do": "reveal",
      role: "group",
      "aria-label": t("present.label"),
    },
    h(
      "header",
      { class: "sd-present-head" },
      banner(model),
      headline(model, !shown("speedup") && race.speedup !== null),
      h("p", { class: "sd-notes" }, same && (shown("same") ? same : h("span", { class: "sd-same sd-covered" }, "?"))),
    ),
    h(
      "div",
      { class: "sd-lanes" },
      state.lanes.map((lane) => laneView(model, lane, goal, false, texts(lane.lane))),
      scene(model),
    ),
    h(
      "section",
      { class: "sd-round-panel" },
      h("h3", { class: "sd-title" }, shortTitle(race.speculative?.round, t)),
      grid(model, race.speculative, race.speculative?.round),
    ),
    h(
      "div",
      { class: "sd-cards" },
      NUMBERS.map((id) => bigNumber(model, id, shown(id))),
    ),
    runningLine(model),
  );
}

function bigNumber(model, id, shown) {
  return h(
    "div",
    { class: "sd-card" },
    h("b", { class: `sd-card-value${shown ? "" : " sd-covered"}` }, shown ? cardValue(model, id) : "?"),
    h("span", { class: "sd-card-caption" }, cardCaption(model, id)),
  );
}
