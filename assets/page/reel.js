// The bar of runs above the player: recorded ones, the visitor's own, and what can be done with the one on show.

import { h } from "../player/dom.js";
import { drafterName } from "../player/facts.js";
import { TAUGHT, rule, ruleName } from "../player/rules.js";
import { tool } from "./tools.js";

/**
 * The bar as descriptions. shown: {buffer, source, key} of the run on show, whole: whether it has ended. runs: the
 * visitor's own. problem: a sentence in every language, or null. without: names of tools
 * to leave out. leads: this browser leads a workshop. say(key): a text.
 */
export function reel(state) {
  const { shown, whole, problem, without, leads, say, t } = state;
  const empty = shown.buffer.lines === 0;
  const parts = [
    recordedRuns(state),
    ownRuns(state),
    h(
      "div",
      { class: "sp-tools", role: "group", "aria-label": say("tools") },
      without.includes("figure") ? null : tool("figure", say("figure"), { disabled: !whole }),
      tool("present", say("present"), { disabled: empty, title: say("present_hint") }),
      tool("save", say("save"), { disabled: empty }),
      tool("open", say("open")),
      leads ? tool("class", say("to_class"), { disabled: !whole }) : null,
      without.includes("page") ? null : tool("page", say("page"), { disabled: !whole }),
    ),
    problem ? h("p", { class: "sp-line sp-line-bad", role: "alert" }, h("span", {}, problem[t.language]), tool("clear", say("close"))) : null,
  ];
  return parts.filter(Boolean);
}

function recordedRuns({ shown, traces, say, t }) {
  const current = shown.key.startsWith("trace ") ? shown.key.slice(6) : "";
  return h(
    "label",
    { class: "sp-recorded" },
    h("span", {}, say("recorded")),
    h(
      "select",
      { name: "trace", value: current },
      h("option", { value: "" }, say("recorded_choose")),
      traces.map(({ id, titles }) => h("option", { value: id }, titles[t.language] || id)),
    ),
  );
}

function ownRuns(state) {
  const { runs, say } = state;
  if (runs.length === 0) return null;
  return h(
    "div",
    { class: "sp-runs", role: "group", "aria-label": say("own") },
    h("span", { class: "sp-runs-label", "aria-hidden": "true" }, say("own")),
    runs.map((run) => ownRun(run, state)),
  );
}

function ownRun(run, { shown, whole, say, t }) {
  const { drafter, gamma, sampling, rule: id = TAUGHT } = run.settings;
  const judged = id === TAUGHT ? "" : ` · ${ruleName(rule(id), t)}`;
  const title = `#${run.number} ${drafterName(drafter, t)} γ ${gamma} T ${sampling?.temperature ?? "–"}${judged}`;
  const pressed = shown.key === `own ${run.number}`;
  const race = h("button", { type: "button", class: "sp-race", "data-do": "race", "data-run": run.number, title: say("race"), "aria-label": `${say("race")} #${run.number}` }, "⇄");
  return h(
    "span",
    { class: "sp-run" },
    h("button", { type: "button", "data-do": "own", "data-run": run.number, "aria-pressed": String(pressed) }, title),
    pressed || !whole || shown.source === "raced_runs" ? null : race,
  );
}
