// What the tabs with a form have in common: an element, texts in the reader's language, and what they listen to. Knows no tab.

import { h } from "../player/dom.js";
import { translator } from "../player/labels.js";
import { language, watchLanguage } from "./address.js";
import { teller } from "./tell.js";

const BUSY = ["waiting", "reading", "loading", "running"];

/**
 * A tab has changed(field), clicked(button or null), received(state of the server) and draw(); resized() where a picture
 * fills the room. latest: the last state, or null.
 */
export class Lab {
  /** component: {element, props, watch, texts} and what the tab takes of its own. part: the name of its texts. */
  constructor(component, part) {
    Object.assign(this, component);
    const { element, texts } = component;
    this.root = element.querySelector(".sp-lab");
    this.say = teller(texts, part, language(texts));
    this.t = translator(texts, language(texts));
    this.latest = null;
  }

  /** Draws and listens, once the tab knows what it begins with. */
  begin() {
    this.root.addEventListener("input", ({ target }) => this.changed(target));
    this.root.addEventListener("click", ({ target }) => this.clicked(target.closest("button")));
    // A number that is left empty is what it was.
    this.root.addEventListener("focusout", ({ target }) => target.type === "number" && target.value === "" && this.draw());
    this.watch("value", () => this.props.value && this.received(JSON.parse(this.props.value)));
    watchLanguage((lang) => {
      this.say.language = lang;
      this.t.setLanguage(lang);
      this.draw();
    });
    this.draw();
    if (this.resized) new ResizeObserver(() => this.resized()).observe(this.root);
  }

  get busy() {
    return BUSY.includes(this.latest?.state);
  }
}

/** A part of a tab. lead: what it is about, or null. */
export function panel(title, lead, ...children) {
  return h("section", { class: "sd-panel sp-panel", "aria-label": title }, h("h3", { class: "sd-title" }, title), lead ? h("p", { class: "sd-hint" }, lead) : null, children);
}

/** The sentence of the server for what went wrong. */
export function failed({ problem }, say) {
  return h("p", { class: "sp-said sp-said-bad", role: "alert" }, problem[say.language]);
}
