// A line of text that came in every language, with a bar where something is on its way. Text is text, never markup.

import { h, patch } from "../player/dom.js";
import { readLanguage, watchLanguage } from "./address.js";

/** component.props.value: JSON of {kind, texts: {en, zh}, fraction} or "". kind: "info", "good", "bad" or "busy". */
export function showLine({ element, props, watch }) {
  const root = element.querySelector(".sp-line");
  const draw = () => {
    const line = props.value ? JSON.parse(props.value) : { kind: "info", texts: {} };
    root.className = `sp-line sp-line-${line.kind}`;
    root.setAttribute("role", line.kind === "bad" ? "alert" : "status");
    patch(root, [h("span", { class: "sp-line-text" }, line.texts[readLanguage()] || ""), bar(line)]);
  };
  watch("value", draw);
  watchLanguage(draw);
  draw();
}

function bar({ kind, fraction }) {
  if (kind !== "busy") return h("span", { hidden: true });
  const known = typeof fraction === "number";
  const width = known ? `width:${(100 * fraction).toFixed(1)}%` : null;
  return h("span", { class: `sp-bar${known ? "" : " sp-bar-unknown"}`, "aria-hidden": "true" }, h("i", { style: width }));
}
