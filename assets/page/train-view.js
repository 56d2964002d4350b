// What the Train tab looks like: text, numbers of the table, and its entries for a context. Knows states, asks nothing.

import { h } from "../player/dom.js";
import { label } from "../player/format.js";
import { quoted } from "../player/facts.js";
import { failed, panel } from "./lab.js";
import { number } from "./prove-fields.js";

/** All panels. tab: {say, text, context, asked, orders, most, problem, latest, table, busy}. */
export function view(tab) {
  const { say } = tab;
  return [
    h("header", { class: "sp-lab-head" }, h("h2", {}, say("title")), h("p", {}, say("lead"))),
    panel(say("text"), say("text_lead", { most: grouped(tab.most) }), form(tab), progress(tab), tab.table && !tab.busy ? result(tab.table, say) : null),
    panel(say("entries"), say("entries_lead"), tab.table ? [contextForm(tab), shown(tab.latest.look, say)] : h("p", { class: "sp-said" }, say("none_yet"))),
  ];
}

function form({ say, text, asked, orders: [low, high], problem, busy }) {
  return [
    h("label", { class: "sp-field" }, h("span", {}, say("field.text")), h("textarea", { name: "text", rows: 7, value: text, placeholder: say("field.text_hint") })),
    h(
      "div",
      { class: "sp-form" },
      h("button", { type: "button", class: "sp-choice sp-pick", "data-do": "file" }, say("file")),
      number("order", say("field.order"), asked.order, { low, high, step: 1 }),
      busy ? h("button", { type: "button", class: "sp-go sp-halt", "data-do": "halt" }, say("stop")) : h("button", { type: "button", class: "sp-go", "data-do": "train", disabled: text.trim() === "" }, say("train")),
      h("span", { class: "sd-hint" }, say("characters", { count: grouped(text.length) })),
    ),
    problem ? h("p", { class: "sp-said sp-said-bad", role: "alert" }, problem) : null,
  ];
}

function progress({ say, latest: { train } }) {
  if (!train || train.state === "done") return null;
  if (train.state === "failed") return failed(train, say);
  if (train.state === "stopped") return h("p", { class: "sp-said", role: "status" }, say("stopped"));
  if (train.state === "waiting") return h("p", { class: "sp-said", role: "status" }, say("waiting"));
  return h("p", { class: "sp-said" }, say("running", { done: grouped(train.done), of: grouped(train.of) }), h("progress", { max: train.of, value: train.done, "aria-label": say("progress") }));
}

function result({ tokens, seconds, kinds, bytes }, say) {
  const shown = [
    [say("number.tokens"), grouped(tokens)],
    ...kinds.map((count, i) => [say("number.kinds", { n: i + 1 }), grouped(count)]),
    [say("number.size"), `${(bytes / 1e6).toFixed(1)} MB`],
    [say("number.seconds"), `${seconds.toFixed(1)} s`],
  ];
  return h(
    "div",
    { class: "sp-result-box" },
    h("p", { class: "sp-said sp-said-good", role: "status" }, say("done")),
    h("dl", { class: "sp-numbers" }, shown.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value)))),
    h("div", { class: "sp-form" }, h("button", { type: "button", class: "sp-go", "data-do": "race" }, say("race")), h("span", { class: "sd-hint" }, say("race_hint"))),
  );
}

function contextForm({ say, context }) {
  return h(
    "div",
    { class: "sp-form" },
    h("label", { class: "sp-field sp-wide" }, h("span", {}, say("field.context")), h("textarea", { name: "context", rows: 2, value: context })),
    h("button", { type: "button", class: "sp-choice", "data-do": "look" }, say("look")),
    h("button", { type: "button", class: "sp-choice", "data-do": "shown" }, say("shown")),
  );
}

function shown(state, say) {
  if (!state) return null;
  if (state.state === "failed") return failed(state, say);
  if (!state.law) return h("p", { class: "sp-said", role: "status" }, say("waiting"));
  const { context, levels, law, ahead } = state;
  return h(
    "div",
    { class: "sp-result-box sp-entries" },
    h("p", {}, say("ahead"), " ", ahead.map(([token, q]) => h("span", { class: "sp-ahead-token" }, h("b", {}, label(token)), h("small", {}, q.toFixed(2))))),
    h("p", { class: "sd-hint" }, context.length ? say("context", { tokens: context.map(quoted).join(" ") }) : say("no_context")),
    h(
      "div",
      { class: "sp-levels" },
      levels.map(({ ending, total, kinds, rows }) => bars(say("level", { tokens: ending.map(quoted).join(" "), total: grouped(total), kinds: grouped(kinds) }), rows, total, (count) => grouped(count))),
      levels.length ? null : h("p", {}, say("unseen")),
      bars(say("law"), law, 1, (q) => q.toFixed(q < 0.001 ? 5 : 3), "sp-level-law"),
    ),
  );
}

function bars(title, rows, whole, text, more = "") {
  const row = ([token, value]) =>
    h("li", {}, h("span", { class: "sp-id" }, label(token)), h("span", { class: "sp-track", "aria-hidden": "true" }, h("i", { class: "sp-came", style: `width:${((100 * value) / whole).toFixed(2)}%` })), h("span", { class: "sp-chance" }, text(value)));
  return h("figure", { class: `sp-histogram sp-level ${more}` }, h("figcaption", {}, title), h("ol", {}, rows.map(row)));
}

function grouped(count) {
  return String(count).replace(/\B(?=(\d{3})+$)/g, " ");
}
