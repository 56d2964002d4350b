// What to measure: the kind, its fields, the prompts, how much that is, and how far it has come.

import { h } from "../player/dom.js";
import { failed } from "./lab.js";
import { size } from "./measure-numbers.js";
import { menu, number, startButton } from "./prove-fields.js";

/** The kinds as a row of buttons. */
export function kindsBar(kinds, chosen, say) {
  const button = (kind) => h("button", { type: "button", class: "sp-choice", "data-kind": kind, "aria-pressed": String(kind === chosen) }, say(`kind.${kind}`));
  return h("div", { class: "sp-choices", role: "group", "aria-label": say("kinds") }, kinds.map(button));
}

/** The fields of the chosen kind. */
export function fields({ asked, drafters, most, sets }, { drafter, say }) {
  if (asked.kind === "lunch") return [];
  const options = drafters.filter(({ control }) => !control).map(({ id }) => [id, drafter(id)]);
  const one = menu("drafter", say("field.drafter"), asked.drafter, options);
  const gamma = number("gamma", say(asked.kind === "policies" ? "field.most_gamma" : "field.gamma"), asked.gamma, { low: 1, high: 32, step: 1 });
  const temperature = number("temperature", say("field.temperature"), asked.temperature, { low: 0, high: 2, step: 0.1 });
  const own = {
    gamma: [one, list("gammas", say("field.gammas"), asked.gammas), temperature],
    temperature: [one, gamma, list("temperatures", say("field.temperatures"), asked.temperatures)],
    drafters: [gamma, temperature],
    policies: [one, gamma, temperature],
  }[asked.kind];
  const prompts = menu("prompts", say("field.prompts"), asked.prompts, sets.map(({ id, count }) => [id, say(`set.${id}`, { count })]));
  return [own, prompts, number("max_new_tokens", say("field.max_new_tokens"), asked.max_new_tokens, { low: 8, high: most.tokens, step: 8 })];
}

/** Several numbers in one field. */
function list(name, label, value) {
  return h("label", { class: "sp-field" }, h("span", {}, label), h("input", { type: "text", name, value, inputmode: "decimal", autocomplete: "off" }));
}

/** The drafts of a leaderboard, to choose from. */
export function draftBoxes({ asked, drafters }, { drafter, say }) {
  if (asked.kind !== "drafters") return null;
  const box = ({ id, control }) =>
    h("label", { class: "sp-box" }, h("input", { type: "checkbox", name: "drafters", value: id, checked: asked.drafters.includes(id) }), h("span", {}, drafter(id), control ? h("small", {}, ` ${say("control")}`) : null));
  return h("fieldset", { class: "sp-boxes" }, h("legend", {}, say("field.drafters")), drafters.map(box));
}

/** The reader's own list: written in, or a file. found: of the server, {prompts} or {problem}; null while it is asked. */
export function ownList({ asked, found, most }, say) {
  if (asked.prompts !== "own" || asked.kind === "lunch") return null;
  const file = asked.file !== "" && !asked.file.toLowerCase().endsWith(".txt");
  return h(
    "div",
    { class: "sp-own" },
    file ? h("p", { class: "sp-file" }, asked.file) : h("label", { class: "sp-field sp-wide" }, h("span", {}, say("field.listed", { most: most.prompts })), h("textarea", { name: "listed", rows: 5, value: asked.listed, placeholder: say("listed_hint") })),
    h("div", { class: "sp-choices" }, h("button", { type: "button", class: "sp-choice", "data-do": "open" }, say("open_file")), file ? h("button", { type: "button", class: "sp-choice", "data-do": "unfile" }, say("write_instead")) : null),
    found?.problem ? failed(found, say) : null,
    found?.prompts ? h("p", { class: "sd-hint", role: "status" }, say("found", { count: found.prompts.length, first: found.prompts[0].titles.en })) : null,
  );
}

/** How many prompts will be run; null while nobody knows. */
export function promptCount({ asked, sets, found }) {
  return asked.prompts === "own" ? (found?.prompts?.length ?? null) : sets.find(({ id }) => id === asked.prompts).count;
}

/** What is asked for in numbers, or that it is too much; and the button. */
export function start(measure, running, say) {
  const { asked, busy, most } = measure;
  const count = promptCount(measure);
  const plan = asked.kind === "lunch" || count === null ? null : size({ ...asked, policies: measure.policies() }, count);
  const over = plan !== null && (plan.runs > most.runs || plan.tokens > most.all_tokens);
  const text = asked.kind === "lunch" ? say("lunch_size") : plan === null ? say("no_prompts") : say(over ? "too_much" : "size", { ...plan, prompts: count, each: asked.max_new_tokens, most_runs: most.runs, most_tokens: most.all_tokens });
  return h("div", { class: "sp-start" }, startButton("measure", running, busy || over || (asked.kind !== "lunch" && !plan), say), h("p", { class: over ? "sp-fail" : "sd-hint" }, text));
}

/** How far the measurement is, and what is being run. */
export function progress(state, say) {
  const { done = 0, of = 1 } = state.progress ?? {};
  return h("div", { class: "sp-progress" }, h("progress", { max: of, value: done, "aria-label": say("progress") }), h("span", { role: "status" }, now(state, say)));
}

// What is being done at this moment.
function now({ state, ahead = 0, about, kind, progress = {} }, say) {
  const { done, of, prompt, temperature, racing } = progress;
  if (state === "waiting" && ahead > 0) return say("waits", { count: ahead });
  if (!about) return say("waiting");
  if (kind === "lunch") return say("timing");
  if (!racing) return say("warming");
  return prompt ? say("racing", { number: Math.floor(done) + 1, of, prompt: prompt.titles[say.language], temperature }) : say("finished");
}
