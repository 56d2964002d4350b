// The lanes of the race: heads with counts and a progress bar, texts, and the switch for the ghosts.

import { h } from "./dom.js";
import { seconds } from "./format.js";
import { endOf, laneDraft, laneName } from "./facts.js";

const GHOSTS = ["current", "all", "none"];

/** All lanes. `texts` gives the kept node of a lane's text. */
export function lanes(model, texts) {
  const { t, state, header } = model;
  const missing = (header?.settings?.drafter === "none" ? 1 : 2) - state.lanes.length;
  const goal = Math.max(1, ...state.lanes.map(expected));
  const drafting = state.lanes.filter(({ lane }) => !lane.baseline).length;
  return h(
    "div",
    { class: "sd-lanes sd-panel" },
    state.lanes.map((lane) => laneView(model, lane, goal, drafting > 1, texts(lane.lane))),
    missing > 0 ? Array.from({ length: missing }, (_, i) => roomForLane(i === 0 && missing > 1 ? t("lanes.empty") : "")) : null,
    h("div", { class: "sd-lanes-foot" }, h("span", { class: "sd-hint" }, t("lanes.hint")), ghostSwitch(model)),
    scene(model),
  );
}

// A lane that has not started yet has its place already, so that nothing moves when it does.
function roomForLane(said) {
  return h(
    "div",
    { class: "sd-lane" },
    h("div", { class: "sd-lane-head" }, h("span", { class: "sd-lane-name" }, "\u00a0"), h("span", { class: "sd-lane-count" }, "\u00a0")),
    h("div", { class: "sd-bar" }),
    h("div", { class: "sd-text sd-empty" }, said),
    h("p", { class: "sd-lane-note" }),
  );
}

/** What a guide shows in the place of the lanes, which keep their room below it; null without one. */
export function scene(model) {
  if (!model.ui.scene) return null;
  return h("section", { class: "sd-scene", "aria-label": model.t("scene.label") }, model.ui.scene(model));
}

/** One lane: `goal` is the number of tokens at which every progress bar is full. */
export function laneView(model, state, goal, choosable, text) {
  const { t, race, ui } = model;
  const { lane } = state;
  const focused = race.speculative?.lane === lane;
  return h(
    "section",
    {
      class: `sd-lane${lane.baseline ? " sd-lane-baseline" : ""}`,
      "data-lane": lane.name,
      "aria-label": laneName(lane, t),
      inert: ui.scene !== null,
    },
    h(
      "div",
      { class: "sd-lane-head" },
      laneTitle(lane, t, choosable, focused),
      h("span", { class: "sd-lane-draft" }, lane.started ? laneDraft(lane, t) : ""),
      h("span", { class: "sd-lane-count" }, counts(state, t)),
    ),
    h("div", { class: "sd-bar", "aria-hidden": "true" }, h("i", { style: `width:${percentOf(state.tokens, goal)}%` })),
    text,
    h("p", { class: "sd-lane-note" }, laneNote(model, state)),
  );
}

function laneTitle(lane, t, choosable, focused) {
  const name = laneName(lane, t);
  if (!choosable || lane.baseline) return h("h3", { class: "sd-lane-name" }, name);
  const label = t("lanes.focus", { lane: name });
  const button = {
    type: "button",
    class: "sd-lane-choose",
    "data-do": "focus",
    "data-lane": lane.name,
    "aria-pressed": String(focused),
    "aria-label": label,
  };
  return h("h3", { class: "sd-lane-name" }, h("button", button, name));
}

function counts(state, t) {
  return t("lanes.counts", { tokens: state.tokens, passes: state.rounds, seconds: seconds(state.clock) });
}

function laneNote({ t, ui, timeline }, state) {
  const metrics = state.metrics;
  const now = state.round ? fallenIn(state.round) : 0;
  const folded =
    metrics && ui.ghosts !== "all" ? metrics.rejected + metrics.discarded - (ui.ghosts === "current" ? now : 0) : 0;
  return [
    state.finished ? endOf(state, timeline, t) : null,
    state.prefills > 0 && state.rounds === 0
      ? t("lanes.prefilled", { tokens: state.lane.prefills[state.prefills - 1].tokens })
      : null,
    folded > 0 ? t("lanes.folded", { count: folded }) : null,
  ]
    .filter(Boolean)
    .join(" · ");
}

function fallenIn(round) {
  return round.judged.fates.filter((fate) => fate !== "accepted").length;
}

function ghostSwitch({ t, ui }) {
  return h(
    "div",
    { class: "sd-switch", role: "group", "aria-label": t("ghosts.label") },
    h("span", { class: "sd-switch-label", "aria-hidden": "true" }, t("ghosts.label")),
    GHOSTS.map((name) =>
      h(
        "button",
        { type: "button", "data-do": "ghosts", "data-ghosts": name, "aria-pressed": String(ui.ghosts === name) },
        t(`ghosts.${name}`),
      ),
    ),
  );
}

/** How many tokens a lane will have: known once it has ended, else what it may have at most. */
export function expected({ lane }) {
  if (lane.finished) return lane.finished.tokens.length;
  return lane.started ? lane.started.max_new_tokens : 0;
}

function percentOf(part, whole) {
  return Math.min(100, (100 * part) / whole).toFixed(2);
}
