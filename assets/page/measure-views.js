// Everything under the form: the result of a measurement as it stands, from its sentences to its files.

import { h } from "../player/dom.js";
import { panel } from "./lab.js";
import * as closer from "./measure-closer.js";
import * as lunch from "./measure-lunch.js";
import { most, real } from "./measure-numbers.js";
import { nameOf, speedups, table, verdicts } from "./measure-result.js";
import { stripKey, strips } from "./measure-strip.js";
import { candidates, suited, told } from "./measure-theory.js";
import { menu } from "./prove-fields.js";

/** The panels of a state. measure: the tab. */
export function views(measure, state) {
  const { say } = measure;
  if (state.kind === "lunch") return state.passes ? [lunchPanel(measure, state)] : [];
  if (!state.cells?.length) return [refused(state, measure.names)];
  return [mainPanel(measure, state), closePanel(measure, state), state.kind === "policies" && state.strips?.length ? stripPanel(measure, state) : null];

  function lunchPanel({ widths }, found) {
    const disturbed = lunch.noise(found, say);
    return panel(
      say("lunch"),
      null,
      h("p", { class: "sp-said", role: ended(found) }, lunch.verdict(found, say)),
      disturbed ? h("p", { class: "sp-said sp-said-more" }, disturbed) : null,
      figure("main", say("lunch_chart"), lunch.curve(found, widths.main, say), key(["flat", "least", "linear"], "lunch_key", say), say, found),
      lunch.numbers(found, say),
      foot(found, say, true),
    );
  }
}

function mainPanel({ names, widths, own, recorded, chosen }, state) {
  const { say } = names;
  const list = state.kind === "gamma" ? candidates(state, own, recorded, names) : [];
  const asked = chosen[state.kind]?.earlier;
  const earlier = list.find((one) => one.key === asked) ?? suited(list, state);
  const drawn = speedups(state, earlier, widths.main, names);
  const marks = state.kind === "gamma" ? ["fast", ...(earlier ? ["flat", "slope", "best", "cross"] : []), "books", "even"] : ["fast", "even"];
  return panel(
    say("result"),
    null,
    verdicts(state, names).map(([mood, text]) => h("p", { class: `sp-said ${mood ? `sp-said-${mood}` : "sp-said-more"}` }, text)),
    h("p", { class: "sd-hidden", role: "status" }, state.state === "done" ? say("finished") : ""),
    state.state === "stopped" ? h("p", { class: "sd-hint" }, say("stopped")) : null,
    refused(state, names),
    h(
      "div",
      { class: "sp-measured-pair" },
      drawn ? figure("main", say(`chart.${state.kind}`), drawn, key(marks, "key", say), say, state) : null,
      state.kind === "gamma" ? theory(state, list, earlier, say) : null,
    ),
    table(state, names),
    foot(state, say),
  );
}

function theory(state, list, earlier, say) {
  if (!list.length) return null;
  const options = list.map((one) => [one.key, one.text]);
  return h(
    "div",
    { class: "sp-theory-box" },
    h("h4", {}, say("theory")),
    h("p", { class: "sd-hint" }, say(earlier ? "theory_lead" : "theory_none")),
    menu("earlier", say("field.earlier"), earlier?.key ?? "", earlier ? options : [["", say("choose")], ...options]),
    earlier?.processor ? h("p", { class: "sd-hint" }, say("recorded_on", { processor: earlier.processor, date: String(earlier.recorded).slice(0, 10) })) : null,
    earlier && real(state.cells).length ? told(state, earlier, say) : null,
  );
}

function closePanel({ names, widths, chosen }, state) {
  const { say } = names;
  const cells = state.cells.filter(({ lane }) => state.lanes[lane]);
  if (!cells.length) return null;
  const keyOf = ({ lane, temperature }) => `${lane} ${temperature}`;
  const cell = cells.find((one) => keyOf(one) === chosen[state.kind]?.lane) ?? most(real(cells), ({ summary }) => (state.kind === "gamma" ? summary.gamma : summary.speedup)) ?? cells[0];
  const drawn = closer.positions(cell, widths.side, say);
  return panel(
    say("closer"),
    null,
    h("div", { class: "sp-form" }, menu("lane", say("field.lane"), keyOf(cell), cells.map((one) => [keyOf(one), nameOf(one, state, names)]))),
    h("div", { class: "sp-measured-pair" }, drawn ? figure("side", say("positions"), drawn, null, say, state) : h("p", { class: "sd-hint" }, say("no_positions")), h("div", { class: "sp-books-box" }, h("h4", {}, say("books")), h("p", { class: "sd-hint" }, say("books_lead")), closer.books(cell, say))),
    h("h4", {}, say("by_prompt")),
    closer.prompts(state, cell, say),
  );
}

function stripPanel({ names, chosen }, state) {
  const { say } = names;
  const ids = [...new Set(state.strips.map(([prompt]) => prompt))];
  const prompt = ids.includes(chosen.policies?.prompt) ? chosen.policies.prompt : ids[0];
  const titles = new Map(state.prompts.map(({ id, titles: given }) => [id, given[say.language] ?? given.en]));
  const largest = Math.max(...state.strips.flatMap(([, , beats]) => beats.map(([asked]) => asked)));
  return panel(
    say("strips"),
    say("strips_lead"),
    h("div", { class: "sp-form" }, menu("prompt", say("field.prompt"), prompt, ids.map((id) => [id, titles.get(id)]))),
    stripKey(say),
    strips(state, prompt, largest, (lane) => names.policy(state.lanes[lane].policy), say),
  );
}

function refused({ refused: list = [] }, { drafter, say }) {
  return h("ul", { class: "sp-refusals", hidden: !list.length }, list.map((one) => h("li", {}, h("b", {}, drafter(one.drafter)), ": ", one.problem[say.language])));
}

function figure(name, title, drawn, legend, say, state) {
  return h(
    "figure",
    { class: "sp-curve-figure" },
    h("figcaption", { class: "sp-picture-head" }, h("b", {}, title), state.about ? h("button", { type: "button", class: "sp-link", "data-picture": name }, say("save_png")) : null),
    h("div", { class: `sp-chart-${name}` }, drawn),
    legend,
  );
}

const MARKS = { flat: "M1 7H25", slope: "M1 7H25", least: "M1 7H25", linear: "M1 7H25", even: "M1 7H25", best: "M13 1l6 6l-6 6l-6-6z", cross: "M8 2l10 10m0-10l-10 10", books: "M8 7h10M13 2v10", fast: "M13 1V13" };

function key(names, texts, say) {
  return h("ul", { class: "sp-key" }, names.map((name) => h("li", { class: `sp-key-${name}` }, h("svg", { viewBox: "0 0 26 14", "aria-hidden": "true" }, h("path", { d: MARKS[name] }), name === "fast" ? h("circle", { cx: 13, cy: 7, r: 4 }) : null), say(`${texts}.${name}`))));
}

function foot(state, say, bare = false) {
  return h(
    "footer",
    { class: "sp-foot" },
    h("p", { class: "sd-hint" }, state.line, state.kind === "lunch" ? ` ${say("context", { tokens: state.context })}` : null),
    h("div", { class: "sp-choices" }, bare ? null : h("button", { type: "button", class: "sp-choice", "data-save": "csv" }, say("save_csv")), h("button", { type: "button", class: "sp-choice", "data-save": "json" }, say("save_json"))),
  );
}

function ended({ state }) {
  return state === "running" || state === "waiting" ? null : "status";
}
