// The icons of the controls, as descriptions of inline SVG.

import { h } from "./dom.js";

const PATHS = {
  first: "M2 2h2v12H2zM14 2v12L5 8z",
  back: "M11.5 2v12L4 8z",
  play: "M4 2v12l10-6z",
  pause: "M3.5 2h3.5v12H3.5zM9 2h3.5v12H9z",
  step: "M4.5 2v12L12 8z",
  last: "M12 2h2v12h-2zM2 2v12l9-6z",
  live: "M8 4a4 4 0 1 0 0 8 4 4 0 0 0 0-8z",
  close: "M3.3 2 8 6.7 12.7 2 14 3.3 9.3 8l4.7 4.7-1.3 1.3L8 9.3 3.3 14 2 12.7 6.7 8 2 3.3z",
  previous: "M10.5 2 12 3.5 7.5 8l4.5 4.5-1.5 1.5L4.5 8z",
  next: "M5.5 2 4 3.5 8.5 8 4 12.5 5.5 14l6-6z",
};

/** An icon by its name; decoration only, the control carries the label. */
export function icon(name) {
  return h("svg", { viewBox: "0 0 16 16", class: "sd-icon", "aria-hidden": "true" }, h("path", { d: PATHS[name] }));
}
