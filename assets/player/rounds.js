// The earlier rounds as rows, newest first. Each row is made once and kept; a click goes back to its round.

import { kept } from "./dom.js";
import { label, seconds } from "./format.js";
import { MARKS } from "./facts.js";
import { slots } from "./tokens.js";

/** Keeps the node of the list up to date. */
export class RoundList {
  constructor(document) {
    this.document = document;
    this.node = kept(document.createElement("ol"));
    this.node.className = "sd-rows";
    this.clear();
  }

  clear() {
    this.node.textContent = "";
    this.lane = null;
    this.rows = new Map();
  }

  /** Shows the `limit` rounds before the current one of the lane at `state`. */
  update(state, limit, timeline, t) {
    if (state?.lane !== this.lane || t.language !== this.language) this.clear();
    [this.lane, this.language] = [state?.lane ?? null, t.language];
    if (!state) return;
    const newest = state.rounds - 1;
    const oldest = Math.max(1, newest - limit + 1);
    for (const [number, row] of this.rows) {
      if (number > newest || number < oldest) {
        this.node.removeChild(row);
        this.rows.delete(number);
      }
    }
    this.fill(state.lane, oldest, newest, timeline, t);
  }

  // Rows before those already there go to the end, newer ones to the front.
  fill(lane, oldest, newest, timeline, t) {
    let below = null;
    for (let number = oldest; number <= newest; number++) {
      if (!this.rows.has(number)) {
        const row = this.row(lane.rounds[number - 1], timeline, t);
        this.node.insertBefore(row, below);
        this.rows.set(number, row);
      }
      below = this.rows.get(number);
    }
  }

  row(round, timeline, t) {
    const row = this.element("li", "sd-row");
    const button = row.appendChild(this.element("button", "sd-row-button"));
    button.setAttribute("type", "button");
    button.setAttribute("data-do", "round");
    button.setAttribute("data-round", String(round.number));
    button.setAttribute("aria-label", t("round.go", { number: round.number, count: round.judged.emitted.length }));
    button.appendChild(this.element("span", "sd-row-number", String(round.number)));
    const tokens = button.appendChild(this.element("span", "sd-row-tokens"));
    for (const slot of slots(round, timeline)) {
      const token = tokens.appendChild(this.element("span", `sd-row-token sd-${slot.fate}`));
      token.appendChild(this.element("span", "sd-row-text", label(slot.string)));
      token.appendChild(this.element("i", "sd-mark", MARKS[slot.fate]));
    }
    const { draft_s, verify_s, overhead_s } = round.counted;
    button.appendChild(this.element("span", "sd-row-time", seconds(draft_s + verify_s + overhead_s)));
    return row;
  }

  element(tag, name, text) {
    const node = this.document.createElement(tag);
    node.className = name;
    if (text !== undefined) node.textContent = text;
    return node;
  }
}
