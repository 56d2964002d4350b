// The whole page at one state: which part stands where, in the reading order of a phone.

import { cards } from "./cards.js";
import { controls } from "./controls.js";
import { h } from "./dom.js";
import { roundGrid } from "./grid.js";
import { hero } from "./hero.js";
import { inspector } from "./inspector.js";
import { lanes } from "./lanes.js";
import { legend } from "./legend.js";
import { walk } from "./walk.js";

/** parts: {textNode(lane), rounds (the list's kept node), charts (their view), source (the text of `verify`)}. */
export function fullPage(model, parts) {
  const { t } = model;
  const stage = { class: "sd-stage", tabindex: "0", "aria-label": t("stage.label") };
  return h(
    "div",
    { class: "sd-page" },
    h(
      "div",
      { class: "sd-left" },
      h("section", stage, hero(model), lanes(model, parts.textNode)),
      controls(model),
      roundPanel(model, parts),
    ),
    h("div", { class: "sd-right" }, inspector(model), cards(model), parts.charts),
  );
}

// While the reader walks through a round, the walk's own grid takes the place of the plain one.
function roundPanel(model, { rounds, source }) {
  const { t, ui, race } = model;
  const earlier = t("round.earlier");
  return h(
    "section",
    { class: "sd-panel sd-round-panel", "aria-label": t("round.label") },
    ui.walk && race.speculative?.round ? null : roundGrid(model),
    walk(model, source),
    legend(model),
    h("h4", { class: "sd-rows-title" }, earlier),
    h("div", { class: "sd-rows-box", tabindex: "0", role: "group", "aria-label": earlier }, rounds, moreRows(model)),
  );
}

function moreRows({ t, ui, race }) {
  const left = (race.speculative?.rounds ?? 0) - 1 - ui.rows;
  if (left <= 0) return null;
  return h("button", { type: "button", class: "sd-more", "data-do": "rows" }, t("round.more", { count: left }));
}

/** What a screen reader says: after steps and at the end, not while it plays. */
export function speaker({ ui }) {
  return h("p", { class: "sd-hidden", "aria-live": "polite", role: "status" }, ui.said);
}
