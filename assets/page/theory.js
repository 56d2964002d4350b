// The Theory tab: what α, γ, c and v promise, and two laws to bend. Needs no model and asks no server.

import { h, patch } from "../player/dom.js";
import { flat } from "../player/theory.js";
import { language, watchLanguage } from "./address.js";
import { keep, kept } from "./keep.js";
import { panel } from "./lab.js";
import { teller } from "./tell.js";
import { chart } from "./theory-chart.js";
import { formulas, number } from "./theory-formulas.js";
import { laws, stepOf } from "./theory-laws.js";
import { MOST, PAIRS, lawsOf, shares, sloped, summary, textOf, withChance } from "./theory-numbers.js";
import { published } from "./theory-published.js";

const SLIDERS = {
  alpha: { symbol: "α", low: 0, high: 1, step: 0.01 },
  gamma: { symbol: "γ", low: 0, high: MOST, step: 1 },
  c: { symbol: "c", low: 0, high: 1, step: 0.01 },
  slope: { symbol: "v", low: 0, high: 0.5, step: 0.01 },
};
const WORDS = 6;

const PLAIN = { alpha: 0.8, gamma: 5, c: 0.1, slope: 0.05, laws: textOf(PAIRS.alike) };
const RANGES = Object.fromEntries(Object.entries(SLIDERS).map(([name, { low, high }]) => [name, [low, high]]));

/** component: {element, texts}. */
export class Theory {
  constructor({ element, texts }) {
    this.root = element.querySelector(".sp-lab");
    this.say = teller(texts, "theory", language(texts));
    const { laws: bent, ...numbers } = kept("theory", PLAIN, RANGES);
    this.numbers = { ...numbers, gamma: Math.round(numbers.gamma) };
    this.pair = lawsOf(bent) ?? PAIRS.alike;
    this.bent = null;
    this.width = 640;
    this.listen();
    watchLanguage((lang) => {
      this.say.language = lang;
      this.draw();
    });
    this.draw();
    const box = this.root.querySelector(".sp-curve-box");
    new ResizeObserver(() => this.resized(box.clientWidth)).observe(box);
  }

  /** Puts the sliders at these numbers. */
  take(numbers) {
    this.numbers = { ...this.numbers, ...numbers };
    this.draw();
  }

  listen() {
    const on = (name, react) => this.root.addEventListener(name, react);
    on("input", ({ target }) => this.slid(target));
    on("click", ({ target }) => this.clicked(target.closest("button")));
    on("pointerdown", (event) => this.grabbed(event));
    on("pointermove", (event) => this.bent && this.pulled(event));
    for (const name of ["pointerup", "pointercancel"])
      on(name, () => {
        this.bent = null;
      });
    on("keydown", (event) => this.pressed(event));
  }

  slid({ name, value }) {
    if (!(name in SLIDERS)) return;
    this.numbers = { ...this.numbers, [name]: Number(value) };
    this.moved();
  }

  clicked(button) {
    if (button?.dataset.pair) this.pair = PAIRS[button.dataset.pair];
    else if (button?.dataset.take) this.numbers = { ...this.numbers, alpha: Math.round(100 * shares(this.pair.p, this.pair.q).beta) / 100 };
    else return;
    this.moved();
  }

  // The node stays the same while it is bent: every drawing reuses it.
  grabbed(event) {
    const bar = event.target.closest("[data-law]");
    if (!bar || event.button !== 0) return;
    event.preventDefault();
    bar.focus();
    bar.setPointerCapture(event.pointerId);
    this.bent = bar;
    this.pulled(event);
  }

  pulled({ clientY }) {
    const { top, height } = this.bent.getBoundingClientRect();
    this.bend(this.bent, 1 - (clientY - top) / height);
  }

  pressed(event) {
    const bar = event.target.closest("[data-law]");
    const step = bar && stepOf(event.key);
    if (!step) return;
    event.preventDefault();
    this.bend(bar, this.pair[bar.dataset.law][Number(bar.dataset.index)] + step);
  }

  bend({ dataset: { law, index } }, chance) {
    const rounded = Math.round(100 * chance) / 100;
    this.pair = { ...this.pair, [law]: withChance(this.pair[law], Number(index), rounded) };
    this.moved();
  }

  resized(width) {
    if (!width || width === this.width) return;
    this.width = width;
    this.draw();
  }

  draw() {
    patch(this.root, this.view());
  }

  /** Drawn anew, and kept in the address. */
  moved() {
    this.draw();
    keep("theory", { ...this.numbers, laws: textOf(this.pair) }, PLAIN);
  }

  view() {
    const { alpha, c, slope } = this.numbers;
    const both = { flat: summary(alpha, c, flat), sloping: summary(alpha, c, sloped(slope)) };
    return view(this, both, this.say);
  }
}

function view({ numbers, pair, width }, { flat: level, sloping }, say) {
  const words = Array.from({ length: WORDS }, (_, i) => say(`word.${i + 1}`));
  const split = shares(pair.p, pair.q);
  return [
    h("header", { class: "sp-lab-head" }, h("h2", {}, say("title")), h("p", {}, say("lead"))),
    panel(
      say("speed"),
      say("speed_lead"),
      h(
        "div",
        { class: "sp-speed" },
        h("div", { class: "sp-sliders" }, Object.keys(SLIDERS).map((name) => slider(name, numbers[name], say))),
        h("figure", { class: "sp-curve-figure" }, h("div", { class: "sp-curve-box" }, chart({ flat: level, slope: sloping, gamma: numbers.gamma, width, say })), key(say)),
      ),
      h("div", { class: "sp-scroll", tabindex: "0", role: "region", "aria-label": say("formulas") }, h("table", { class: "sp-table sp-formulas" }, h("tbody", {}, formulas(numbers, { flat: level, sloping }, say)))),
    ),
    panel(
      say("survive"),
      say("survive_lead"),
      h(
        "div",
        { class: "sp-choices", role: "group", "aria-label": say("pairs") },
        Object.keys(PAIRS).map((name) => h("button", { type: "button", class: "sp-choice", "data-pair": name, "aria-pressed": String(PAIRS[name] === pair) }, say(`pair.${name}`))),
        h("button", { type: "button", class: "sp-choice", "data-take": "beta" }, say("take", { beta: number(split.beta) })),
      ),
      laws(split, words, say),
    ),
    panel(say("published"), say("published_lead"), published(say)),
  ];
}

function slider(name, value, say) {
  const { symbol, low, high, step } = SLIDERS[name];
  const shown = step < 1 ? number(value) : String(value);
  return h(
    "label",
    { class: "sp-slide" },
    h("span", { class: "sp-slide-name" }, h("b", {}, symbol), ` ${say(`slider.${name}`)}`),
    h("output", {}, shown),
    h("input", { type: "range", name, min: low, max: high, step, value }),
  );
}

function key(say) {
  return h(
    "figcaption",
    {},
    h("ul", { class: "sp-key" }, ["flat", "slope", "best", "even", "cross"].map((name) => h("li", { class: `sp-key-${name}` }, h("svg", { viewBox: "0 0 26 14", "aria-hidden": "true" }, h("path", { d: MARKS[name] })), say(`curve.${name}`)))),
  );
}

const MARKS = { flat: "M1 7H25", slope: "M1 7H25", even: "M1 7H25", best: "M13 1l6 6l-6 6l-6-6z", cross: "M8 2l10 10m0-10l-10 10" };
