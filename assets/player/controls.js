// The transport bar: buttons, position, speed. Draws what the transport says.

import { h } from "./dom.js";
import { icon } from "./icons.js";
import { seconds } from "./format.js";
import { SPEEDS } from "./transport.js";

/** The sticky bar under the lanes. */
export function controls({ t, state, race, transport }) {
  const active = transport.playing || (transport.following && transport.running);
  const start = state.position === 0;
  return h(
    "div",
    { class: "sd-transport sd-panel", role: "group", "aria-label": t("controls.label") },
    button("first", "first", t("controls.first"), start),
    button("back", "back", t("controls.back"), start),
    button(
      "toggle",
      active ? "pause" : "play",
      t(active ? "controls.pause" : "controls.play"),
      state.last === 0,
      "sd-main",
    ),
    button("step", "step", t("controls.step"), transport.atEnd),
    button("last", "last", t("controls.last"), transport.atEnd),
    h("input", {
      type: "range",
      class: "sd-slider",
      min: "0",
      max: String(state.last),
      step: "1",
      value: state.position,
      "aria-label": t("controls.position"),
      "aria-valuetext": place(race, state, t),
      style: `--sd-part:${state.last ? ((100 * state.position) / state.last).toFixed(2) : 0}%`,
    }),
    h("span", { class: "sd-place" }, place(race, state, t)),
    liveButton(transport, t),
    h(
      "label",
      { key: "speed", class: "sd-speed" },
      h("span", { class: "sd-hidden" }, t("controls.speed")),
      h(
        "select",
        { "data-change": "speed", value: String(transport.speed) },
        SPEEDS.map((speed) => h("option", { value: String(speed) }, `${speed}×`)),
      ),
    ),
  );
}

function button(action, name, label, disabled, extra = "") {
  return h(
    "button",
    {
      type: "button",
      class: `sd-button ${extra}`.trim(),
      "data-do": action,
      "aria-label": label,
      title: label,
      "aria-disabled": disabled ? "true" : null,
    },
    icon(name),
  );
}

function liveButton(transport, t) {
  if (!transport.running || transport.following) return null;
  return h(
    "button",
    { type: "button", class: "sd-button sd-live", "data-do": "live" },
    icon("live"),
    t("controls.to_live"),
  );
}

function place(race, state, t) {
  const lane = race.speculative;
  if (!lane) return "";
  return t("controls.place", { round: lane.rounds, rounds: lane.lane.rounds.length, seconds: seconds(state.clock) });
}
