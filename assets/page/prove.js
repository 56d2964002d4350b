// The Prove tab: exact tests of every rule on a tiny world, and sampled and greedy tests on the model that is loaded.

import { h, patch } from "../player/dom.js";
import { drafterName } from "../player/facts.js";
import { keep, kept } from "./keep.js";
import { Lab, failed, panel } from "./lab.js";
import { menu, number, startButton, words } from "./prove-fields.js";
import * as greedy from "./prove-greedy.js";
import * as sampled from "./prove-sampled.js";
import { detail, table } from "./prove-table.js";
import { watchTab } from "./tabs.js";

const POLL_MS = 500;
const NUMBERS = ["temperature", "depth", "n", "seed", "gamma", "max_new_tokens", "length"];

/**
 * component: {element, props, watch, server, texts, sampled(asked), greedy(asked), halt(), rules, drafters, modes,
 * lengths, deepest, most_tokens, prompt, plain}. props.value: "" or JSON of a test's state.
 */
export class Prove extends Lab {
  constructor(component) {
    super(component, "prove");
    const { plain, prompt } = component;
    this.plain = { prompt, ...plain, temperature: 1, depth: 0, n: 100000, seed: 0, gamma: 4, max_new_tokens: 48, mode: "loaded", length: 3 };
    this.asked = whole(kept("prove", this.plain, rangesOf(component)));
    this.rows = new Map();
    this.results = {};
    this.answers = new Map();
    this.offline = false;
    this.polling = false;
    this.width = 480;
    this.begin();
    watchTab((tab) => tab === "prove" && this.poll());
  }

  /** Picks a rule. */
  pick(rule) {
    this.changed({ name: "row", value: rule });
  }

  changed({ name, value }) {
    if (NUMBERS.includes(name) && value === "") return; // not written yet
    if (name === "row") this.asked = { ...this.asked, rule: value };
    else if (name in this.asked) this.asked = { ...this.asked, [name]: NUMBERS.includes(name) ? Number(value) : value };
    this.draw();
    keep("prove", this.asked, this.plain);
  }

  clicked(button) {
    if (!button) return;
    if (button.dataset.length) this.changed({ name: "length", value: button.dataset.length });
    else if (button.dataset.do === "halt") this.halt({});
    else this.start(button.dataset.do);
  }

  start(kind) {
    if (this.busy) return;
    this.latest = { kind, state: "waiting" };
    this.results = { ...this.results, [kind]: null };
    this.started = this.asked;
    this[kind](this.asked);
    this.draw();
  }

  received(state) {
    this.latest = state;
    // What comes before the first result keeps the place of an earlier one free.
    this.results = { ...this.results, [this.latest.kind]: this.latest };
    if (this.latest.kind === "greedy" && this.latest.state === "done") this.remember(this.latest);
    this.draw();
  }

  /** Keeps finished greedy texts by their number type, as long as they answer the same question. */
  remember(state) {
    const { prompt, max_new_tokens: most } = this.started;
    const question = JSON.stringify([prompt, most]);
    if (question !== this.question) this.answers.clear();
    this.question = question;
    this.answers.set(state.dtype, state);
  }

  /** Asks for the exact tests until all are there. The first visitor to ask makes the server work them out. */
  async poll() {
    if (this.polling || this.rows.size === this.rules.length) return;
    this.polling = true;
    try {
      while (this.rows.size < this.rules.length) {
        const { rows } = await this.server.exact_rows(null);
        this.rows = new Map(rows.map((row) => [row.rule, row]));
        this.draw();
        if (this.rows.size < this.rules.length) await new Promise((go) => window.setTimeout(go, POLL_MS));
      }
      this.offline = false;
    } catch {
      this.offline = true;
      this.draw();
    }
    this.polling = false;
  }

  resized() {
    const box = this.root.querySelector(".sp-chart-box");
    if (!box?.clientWidth || box.clientWidth === this.width) return;
    this.width = box.clientWidth;
    this.draw();
  }

  draw() {
    patch(this.root, view(this));
    if (this.results.sampled?.cells) this.resized();
  }
}

function view(prove) {
  const { say, rules, rows, asked, texts } = prove;
  const text = (key) => texts[say.language][`ui.${key}`];
  const names = {
    name: (id) => text(`rule.${id}`),
    about: (id) => text(`rule_about.${id}`),
    badge: (id) => h("span", { class: `sp-badge sp-badge-${id}` }, text(`badge.${id}`)),
    source: ({ source }) => (source === "a frequent mistake" ? say("mistake") : h("span", { lang: "en" }, source)),
    say: (key, params) => (key.startsWith("side.") ? text(key) : say(key, params)),
  };
  const rule = rules.find(({ id }) => id === asked.rule);
  return [
    h("header", { class: "sp-lab-head" }, h("h2", {}, say("title")), h("p", {}, say("lead"))),
    panel(
      say("exact"),
      say("exact_lead"),
      h("p", { class: "sd-hidden", role: "status" }, rows.size === rules.length ? say("all_tested") : ""),
      prove.offline ? h("p", { class: "sp-said sp-said-bad", role: "alert" }, text("page.offline")) : null,
      table({ rules, rows, chosen: asked.rule, ...names }),
      h("p", { class: "sd-hint" }, say("legend")),
      detail({ rule, row: rows.get(rule.id), length: asked.length, lengths: prove.lengths, ...names }),
    ),
    panel(
      say("real"),
      say("real_lead"),
      h("div", { class: "sp-form" }, words("prompt", say("field.prompt"), asked.prompt), menu("drafter", say("field.drafter"), asked.drafter, prove.drafters.map((id) => [id, drafterName(id, prove.t)])), menu("rule", say("field.rule"), asked.rule, rules.map(({ id }) => [id, names.name(id)])), number("seed", say("field.seed"), asked.seed, { low: 0, high: 1e9, step: 1 })),
    ),
    test(prove, "greedy", names.name, [
      number("gamma", say("field.gamma"), asked.gamma, { low: 1, high: 7, step: 1 }),
      number("max_new_tokens", say("field.max_new_tokens"), asked.max_new_tokens, { low: 8, high: prove.most_tokens, step: 8 }),
      menu("mode", say("field.mode"), asked.mode, prove.modes.map((mode) => [mode, say(`mode.${mode}`)])),
    ]),
    test(prove, "sampled", names.name, [
      number("temperature", say("field.temperature"), asked.temperature, { low: 0, high: 2, step: 0.1 }),
      number("depth", say("field.depth"), asked.depth, { low: 0, high: prove.deepest, step: 1 }),
      menu("n", say("field.n"), String(asked.n), sampled.SIZES),
    ]),
  ];
}

function test(prove, kind, name, fields) {
  const { say, busy, latest, results, width } = prove;
  const state = results[kind];
  const running = busy && latest.kind === kind;
  return panel(say(kind), say(`${kind}_lead`), h("div", { class: "sp-form" }, fields, startButton(kind, running, busy, say)), shown(kind, running ? (state ?? latest) : state, name, width, say, prove.answers));
}

function shown(kind, state, name, width, say, known) {
  if (!state) return null;
  if (state.state === "failed") return failed(state, say);
  if (kind === "sampled" && state.cells) return sampled.result(state, name(state.rule), width, say);
  if (kind === "greedy" && state.baseline) return greedy.result(state, name(state.rule), say, others(state, known));
  if (state.state === "loading") return h("p", { class: "sp-said", role: "status" }, say("loading", { dtype: state.dtype, megabytes: greedy.megabytes(state.bytes) }));
  return h("p", { class: "sp-said", role: "status" }, say(state.state === "reading" ? "reading" : "waiting"));
}

// The same question answered in another number type, once this one is answered whole.
function others(state, known) {
  return state.state === "done" ? [...known.values()].filter(({ dtype }) => dtype !== state.dtype) : [];
}

function rangesOf({ rules, drafters, modes, lengths, deepest, most_tokens: most }) {
  return {
    rule: rules.map(({ id }) => id),
    drafter: drafters,
    mode: modes,
    length: [lengths[0], lengths.at(-1)],
    temperature: [0, 2],
    depth: [0, deepest],
    n: [1e2, 1e6],
    seed: [0, 1e9],
    gamma: [1, 7],
    max_new_tokens: [8, most],
  };
}

// What the address may have by halves.
function whole(asked) {
  const n = sampled.SIZES.map(([size]) => Number(size)).findLast((size) => size <= asked.n);
  const rounded = ["depth", "seed", "gamma", "max_new_tokens", "length"].map((name) => [name, Math.round(asked[name])]);
  return { ...asked, ...Object.fromEntries(rounded), n };
}
