// The tabs of the page: which one is on show, in the address too. They are links, so one can be opened beside another.

import { h } from "../player/dom.js";
import { query } from "./address.js";

export const TABS = ["watch", "measure", "theory", "prove", "train"];

/** The tabs that this page has: those that its body names, else all. */
export function offered() {
  return globalThis.document?.body?.dataset.tabs?.split(" ") ?? TABS;
}

/** The tab that the address asks for; the first one for anything unknown, and for a projector. */
export function asked({ tab, view } = query()) {
  return view !== "present" && offered().includes(tab) ? tab : TABS[0];
}

/** The address of a tab, with all else that this one says. */
export function addressOf(tab, { pathname, search } = window.location) {
  const given = new URLSearchParams(search);
  given.delete("tab");
  if (tab !== TABS[0]) given.set("tab", tab);
  return `${pathname}${given.size ? `?${given}` : ""}`;
}

/** The tab on show. Style sheets read the same attribute. */
export function readTab() {
  return document.body.dataset.tab || TABS[0];
}

/** Calls back now and whenever another tab is shown. */
export function watchTab(react) {
  new MutationObserver(() => react(readTab())).observe(document.body, { attributes: true, attributeFilter: ["data-tab"] });
  react(readTab());
}

/** Shows the tab of the address, now and when the reader goes back to an earlier one. */
export function followAddress() {
  const show = () => {
    document.body.dataset.tab = asked();
  };
  window.addEventListener("popstate", show);
  show();
}

/** Shows a tab in place, as a new entry of the history. */
export function choose(tab) {
  if (tab === readTab()) return;
  window.history.pushState(null, "", addressOf(tab));
  document.body.dataset.tab = tab;
  window.scrollTo(0, 0);
}

/** The bar. table: the texts of the language. */
export function tabs(table) {
  const current = readTab();
  const link = (tab) => h("a", { href: addressOf(tab), "data-tab": tab, "aria-current": tab === current ? "page" : null }, table[`ui.page.tab.${tab}`]);
  return h("nav", { class: "sp-tabs", "aria-label": table["ui.page.tabs"] }, lessons(table), offered().map(link));
}

// No tab of its own: the lessons stand beside whichever is on show.
function lessons(table) {
  const on = document.body.classList.contains("sp-learning");
  return h("a", { href: "?lesson=start", class: "sp-start", role: "button", "data-lessons": true, "aria-expanded": String(on) }, table["ui.page.lessons.title"]);
}

/** True for a click that shall open the link here, and not in a window of its own. */
export function opensHere(event) {
  return event.button === 0 && !(event.metaKey || event.ctrlKey || event.shiftKey || event.altKey);
}
