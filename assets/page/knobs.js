// A drafter's own settings as small fields, drawn from the drafter's data. Value: JSON of name → text, unset ones left out.

import { h, patch } from "../player/dom.js";
import { readLanguage, watchLanguage } from "./address.js";

/** component: {element, props, watch, texts, drafters (id → list of knobs)}. props: drafter (id), value. */
export function showKnobs({ element, props, watch, texts, drafters }) {
  const root = element.querySelector(".sp-knobs");
  const draw = () => {
    const table = texts[readLanguage()] || texts.en;
    const set = props.value ? JSON.parse(props.value) : {};
    const knobs = drafters[props.drafter] || [];
    root.hidden = knobs.length === 0;
    patch(root, knobs.map((knob) => field(knob, set[knob.name], table)));
  };
  root.addEventListener("change", (event) => {
    const { name, value } = event.target;
    const set = props.value ? JSON.parse(props.value) : {};
    if (value === "" || value === event.target.dataset.plain) delete set[name];
    else set[name] = value;
    props.value = Object.keys(set).length ? JSON.stringify(set) : "";
  });
  watch(["value", "drafter"], draw);
  watchLanguage(draw);
  draw();
}

function field(knob, value, table) {
  const label = table[`ui.page.knob.${knob.name}`];
  return h("label", { class: "sp-knob" }, h("span", {}, label), input(knob, value ?? String(knob.default), table));
}

function input(knob, value, table) {
  const common = { name: knob.name, "data-plain": String(knob.default), value };
  if (knob.kind !== "choice") return h("input", { ...common, type: "number", min: knob.low, max: knob.high, step: knob.kind === "int" ? 1 : "any" });
  return h("select", common, knob.choices.map((choice) => h("option", { value: choice }, table[`ui.page.choice.${choice}`] || choice)));
}
