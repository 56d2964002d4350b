// Buttons of the page's own bars: an icon and a word.

import { h } from "../player/dom.js";

const PATHS = {
  tour: "M3 1.5h1.6v1.2H13l-2 3 2 3H4.6v5.8H3z",
  figure: "M2 2h1.6v10.4H14V14H2zM5 9.5 7.7 6l2.3 2 3.2-4.6 1.3.9-4.2 6.2-2.3-2-1.4 1.9z",
  present: "M1.5 2.5h13v8.6H8.7v1.6l2.6 1.8H4.7l2.6-1.8v-1.6H1.5zm1.4 1.4v5.8h10.2V3.9z",
  save: "M7.2 2h1.6v6l2.3-2.3 1.1 1.1L8 11 3.8 6.8l1.1-1.1L7.2 8zM3 12.4h10V14H3z",
  open: "M2 3h4.5L8 4.6h6V13H2zm1.6 3.2v5.2h8.8V6.2z",
  class: "M8 2 .8 5.6 8 9.2l7.2-3.6zM3.4 8.3v3L8 13.6l4.6-2.3v-3L8 10.6z",
  page: "M3.5 1.5H10L12.5 4v10.5h-9zM5 3v10h6V5H9V3zm1.2 4h3.6v1.2H6.2zm0 2.4h3.6v1.2H6.2z",
  clear: "M3.3 2 8 6.7 12.7 2 14 3.3 9.3 8l4.7 4.7-1.3 1.3L8 9.3 3.3 14 2 12.7 6.7 8 2 3.3z",
};

/** A button that does `name`. */
export function tool(name, label, attributes = {}) {
  return h(
    "button",
    { type: "button", class: "sp-tool", "data-do": name, title: label, ...attributes },
    h("svg", { viewBox: "0 0 16 16", class: "sp-icon", "aria-hidden": "true" }, h("path", { d: PATHS[name] })),
    h("span", {}, label),
  );
}
