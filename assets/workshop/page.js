// What the pages of presenter and attendees have in common: where they are, their words, a line for what went wrong.

import { h, patch } from "../player/dom.js";
import { watchLanguage } from "../page/address.js";
import { Refusal } from "./wire.js";
import { words } from "./words.js";

/** The address of the workshop, whatever stands in front of it. */
export function base() {
  return window.location.pathname.replace(/\/+$/, "");
}

/** The parts of a page: `say`, nodes `above` and `below`, and `redraw` at every change of the language. */
export function parts(given, redraw) {
  const say = words(given.texts, () => document.documentElement.lang || "en");
  watchLanguage(() => redraw());
  return { say, above: document.getElementById("ws-above"), below: document.getElementById("ws-below") };
}

/** The sentence for an error: the server's own where it has one. */
export function sentence(error, say) {
  if (error instanceof Refusal && error.texts) return say.of(error.texts);
  return say("offline");
}

/** A page without a workshop: why, a sentence or null at every call, and a field for the code. */
export function askForCode(above, say, why) {
  document.body.classList.add("ws-lost");
  const draw = () => {
    const reason = why();
    patch(above, [
      h(
        "form",
        { class: "ws-code", "data-do": "code" },
        reason ? h("p", { class: "ws-problem", role: "alert" }, reason) : null,
        h("label", {}, say("code_ask"), h("input", { name: "code", maxlength: "12", autocomplete: "off", autocapitalize: "none", spellcheck: "false", required: true })),
        h("button", { type: "submit", class: "ws-button ws-main" }, say("code_go")),
      ),
    ]);
  };
  watchLanguage(draw);
  draw();
  above.querySelector("form").addEventListener("submit", (event) => {
    event.preventDefault();
    const code = above.querySelector("input").value.trim().toLowerCase();
    const root = base().replace(/\/w(\/[^/]*)?$/, "/w");
    if (code) window.location.assign(`${root}/${encodeURIComponent(code)}${window.location.search}${window.location.hash}`);
  });
}
