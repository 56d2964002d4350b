// The text of one lane as DOM: a span per token, grouped by round, in paragraphs; changed only where the position changed.
// What it shows depends on lane, counts, ghosts and selection alone, never on what it showed before.

import { kept } from "./dom.js";
import { roundItems, unfinished } from "./tokens.js";

// A glyph has at most four bytes, so only the last few rounds can change their look when later ones come or go.
const REACH = 5;

/** Keeps the node of a lane's text up to date. */
export class LaneText {
  constructor(document) {
    this.document = document;
    this.node = kept(document.createElement("div"));
    this.node.className = "sd-text";
    this.body = this.node.appendChild(document.createElement("div"));
    this.body.className = "sd-text-body";
    this.tail = document.createElement("span");
    this.clear();
  }

  clear() {
    this.body.textContent = "";
    this.rounds = [];
    this.paragraphs = [];
    this.lane = null;
    this.selected = null;
  }

  /** state: of the lane (see state.js). ghosts: "current", "all" or "none". selection: {round, slot} in this lane, or null. */
  update(state, ghosts, selection, timeline) {
    if (state.lane !== this.lane || ghosts !== this.ghosts) this.clear();
    this.lane = state.lane;
    this.ghosts = ghosts;
    this.tail.parentNode?.removeChild(this.tail);
    const keys = this.keys(state);
    while (this.rounds.length > state.rounds) this.dropRound();
    const changed = this.rounds.findIndex((round, i) => i >= keys.from && round.key !== keys.of(i));
    while (changed >= 0 && this.rounds.length > changed) this.dropRound();
    for (let i = this.rounds.length; i < state.rounds; i++) this.addRound(state, i, keys.of(i), timeline);
    this.addTail(state);
    this.select(selection);
  }

  // What the look of a round depends on beside its events; only rounds from `from` on can have changed.
  keys(state) {
    const shows = (i) => this.ghosts === "all" || (this.ghosts === "current" && i === state.rounds - 1);
    const of = (i) => `${shows(i)} ${unfinished(state.lane, state.lane.rounds[i], state.tokens)}`;
    return { from: Math.max(0, Math.min(this.rounds.length, state.rounds) - REACH), of };
  }

  dropRound() {
    for (const part of this.rounds.pop().parts) part.parentNode.removeChild(part);
    while (this.paragraphs.length && !this.paragraphs.at(-1).firstChild) this.body.removeChild(this.paragraphs.pop());
  }

  addRound(state, i, key, timeline) {
    const round = state.lane.rounds[i];
    const parts = [];
    let part = null;
    for (const item of roundItems(state.lane, round, state.tokens, key.startsWith("true"), timeline)) {
      const paragraph = this.paragraph();
      if (!part || part.parentNode !== paragraph) {
        part = paragraph.appendChild(this.document.createElement("span"));
        part.className = "sd-round";
        part.setAttribute("data-round", String(round.number));
        parts.push(part);
      }
      part.appendChild(this.token(item));
    }
    this.rounds.push({ key, parts });
  }

  // A line break closes a paragraph: a new token then moves only the last one, however long the text is.
  paragraph() {
    const last = this.paragraphs.at(-1);
    if (last && !last.lastChild?.lastChild?.textContent.endsWith("\n")) return last;
    const node = this.body.appendChild(this.document.createElement("div"));
    this.paragraphs.push(node);
    return node;
  }

  token(item) {
    const span = this.document.createElement("span");
    span.className = `sd-token sd-${item.fate}${item.kind === "token" ? "" : ` sd-${item.kind}`}${item.mixed ? " sd-mixed" : ""}`;
    span.setAttribute("data-do", "select");
    span.setAttribute("data-slot", String(item.slot));
    // A bidirectional control must not turn the tokens behind it.
    if (/[\u202a-\u202e\u2066-\u2069]/.test(item.text)) span.classList.add("sd-isolate");
    if (item.kind === "token") {
      span.textContent = item.text;
      if (item.text.includes("\n")) span.setAttribute("data-break", "⏎".repeat(item.text.split("\n").length - 1));
      return span;
    }
    // Not part of the answer: out of reach of screen readers and of copy and paste. A fallen line break breaks no line.
    span.setAttribute("aria-hidden", "true");
    if (item.kind === "chip") span.setAttribute("data-bytes", item.text);
    else span.textContent = item.text.replace(/\r?\n/g, "⏎");
    return span;
  }

  // The text flushed at the end (an unfinished character), or the place where the next token goes.
  addTail(state) {
    this.tail.textContent = state.finished ? state.finished.tail : "";
    this.tail.className = state.finished ? "sd-tail" : "sd-tail sd-cursor";
    this.tailParagraph(state).appendChild(this.tail);
  }

  tailParagraph(state) {
    return state.finished && !state.finished.tail && this.paragraphs.length ? this.paragraphs.at(-1) : this.paragraph();
  }

  select(selection) {
    if (this.selected) this.selected.classList.remove("sd-selected");
    const parts = (selection && this.rounds[selection.round - 1]?.parts) || [];
    const spans = parts.flatMap((part) => [...part.children]);
    this.selected = spans.find((span) => span.getAttribute("data-slot") === String(selection.slot)) || null;
    if (this.selected) this.selected.classList.add("sd-selected");
  }
}
