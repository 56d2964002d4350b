// The Measure tab: sweeps over γ, T, drafts and policies on the models that are loaded, and what a wide pass costs.

import { h, patch } from "../player/dom.js";
import { drafterName } from "../player/facts.js";
import { choose } from "./files.js";
import { Lab, failed } from "./lab.js";
import * as form from "./measure-form.js";
import { views } from "./measure-views.js";
import { saveData, savePicture } from "./measure-save.js";
import { watchTab } from "./tabs.js";

const NUMBERS = ["gamma", "temperature", "max_new_tokens"];
const PAUSE_MS = 400;

/**
 * component: {element, props, watch, server, texts, measure(asked), halt(), kinds, sets, drafters, first, plain, most}.
 * props.value: "" or JSON of a measurement's state.
 */
export class Measure extends Lab {
  constructor(component) {
    super(component, "measure");
    this.ask = component.measure;
    const { texts, plain, first, most } = component;
    this.names = { say: this.say, drafter: (id) => drafterName(id, this.t), policy: (id) => texts[this.say.language][`ui.policy.${id}`] };
    this.asked = { kind: "gamma", ...plain, gammas: "1, 2, 4, 8, 12", temperatures: "0, 0.5, 1", temperature: 0, drafters: first, prompts: "few", listed: "", file: "", max_new_tokens: Math.min(48, most.tokens) };
    this.results = {};
    this.own = [];
    this.recorded = [];
    this.chosen = {};
    this.found = null;
    this.widths = { main: 560, side: 480 };
    this.begin();
    watchTab((tab) => tab === "measure" && this.remember());
  }

  /** How many policies a sweep over them has: without a confidence one falls away. */
  policies() {
    return this.drafters.find(({ id }) => id === this.asked.drafter)?.confident ? 4 : 3;
  }

  changed({ name, value, checked }) {
    if (NUMBERS.includes(name) && value === "") return; // not written yet
    if (name === "drafters") this.set({ drafters: this.drafters.map(({ id }) => id).filter((id) => (id === value ? checked : this.asked.drafters.includes(id))) });
    else if (["lane", "earlier", "prompt"].includes(name)) this.chosen = { ...this.chosen, [this.asked.kind]: { ...this.chosen[this.asked.kind], [name]: value } };
    else if (name in this.asked) this.set({ [name]: NUMBERS.includes(name) ? Number(value) : value });
    if (name === "listed" || name === "prompts") this.check();
    this.draw();
  }

  set(more) {
    this.asked = { ...this.asked, ...more };
  }

  clicked(button) {
    if (!button) return;
    const { kind, do: action, save, picture } = button.dataset;
    if (kind) this.set({ kind });
    else if (action === "measure") this.start();
    else if (action === "halt") this.halt({});
    else if (action === "open") this.open();
    else if (action === "unfile") this.list("", "");
    else if (save) saveData(save, this.results[this.asked.kind]);
    else if (picture) this.picture(button.closest("figure"));
    this.draw();
  }

  start() {
    if (this.busy) return;
    this.latest = { kind: this.asked.kind, state: "waiting" };
    this.results = { ...this.results, [this.asked.kind]: null };
    this.ask(this.asked);
    this.draw();
  }

  received(state) {
    this.latest = state;
    this.results = { ...this.results, [this.latest.kind]: this.latest };
    if (!this.busy && this.latest.cells?.length && !this.own.some(({ run }) => run === this.latest.run)) this.own.push(this.latest);
    this.draw();
  }

  /** The recorded runs that theory can be taken from. */
  async remember() {
    if (this.recorded.length) return;
    try {
      this.recorded = (await this.server.earlier_runs(null)).runs;
    } catch {
      this.recorded = []; // theory then has the reader's own measurements alone
    }
    this.draw();
  }

  async open() {
    const file = await choose(".txt,.json,.jsonl,.csv");
    if (file.size > 4 * this.most.characters) this.found = { problem: this.both("too_large") };
    else this.list(await file.text(), file.name);
    this.draw();
  }

  list(listed, file) {
    this.set({ listed, file });
    this.check();
  }

  /** Asks how many prompts there are, once the writing pauses. */
  check() {
    window.clearTimeout(this.pause);
    this.found = null;
    if (this.asked.prompts !== "own" || !this.asked.listed.trim()) return;
    this.pause = window.setTimeout(async () => {
      const { listed, file } = this.asked;
      try {
        const found = await this.server.listed_prompts({ listed, file });
        if (listed === this.asked.listed) this.found = found;
      } catch {
        this.found = { problem: this.both("offline") };
      }
      this.draw();
    }, PAUSE_MS);
  }

  both(key) {
    return Object.fromEntries(Object.keys(this.texts).map((lang) => [lang, this.texts[lang][key === "offline" ? "ui.page.offline" : `ui.page.measure.${key}`]]));
  }

  picture(figure) {
    const { kind, line, about } = this.results[this.asked.kind];
    savePicture(figure.querySelector("svg"), `specdemo-${kind}-${String(about.measured).slice(0, 10)}`, figure.querySelector("figcaption b").textContent, line);
  }

  resized() {
    const found = Object.fromEntries(["main", "side"].map((name) => [name, this.root.querySelector(`.sp-chart-${name}`)?.clientWidth || this.widths[name]]));
    if (found.main === this.widths.main && found.side === this.widths.side) return;
    this.widths = found;
    this.draw();
  }

  draw() {
    patch(this.root, view(this).flat(Infinity).filter(Boolean));
    if (this.results[this.asked.kind]?.about) this.resized();
  }
}

function view(measure) {
  const { say, asked, kinds, latest, busy, results, names } = measure;
  const running = busy && latest.kind === asked.kind;
  const state = results[asked.kind];
  return [
    h("header", { class: "sp-lab-head" }, h("h2", {}, say("title")), h("p", {}, say("lead"))),
    h(
      "section",
      { class: "sd-panel sp-panel", "aria-label": say("what") },
      form.kindsBar(kinds, asked.kind, say),
      h("p", { class: "sp-about" }, say(`lead.${asked.kind}`)),
      h("div", { class: "sp-form", hidden: asked.kind === "lunch" }, form.fields(measure, names)),
      form.draftBoxes(measure, names),
      form.ownList(measure, say),
      form.start(measure, running, say),
      running ? form.progress(latest, say) : busy ? h("p", { class: "sd-hint" }, say("other_running", { kind: say(`kind.${latest.kind}`) })) : null,
      h("p", { class: "sd-hint" }, say("fair")),
    ),
    state?.state === "failed" ? failed(state, say) : state ? views(measure, state) : null,
  ];
}
