// The head of the page: its name, the tabs, the language and the theme.

import { h, patch } from "../player/dom.js";
import { language, readTheme, setTheme, watchTheme } from "./address.js";
import { part } from "./parts.js";
import { choose as chooseTab, followAddress, opensHere, tabs, watchTab } from "./tabs.js";

const SUN = "M8 4.6a3.4 3.4 0 1 0 0 6.8 3.4 3.4 0 0 0 0-6.8zM7.3.8h1.4v2.4H7.3zM7.3 12.8h1.4v2.4H7.3zM.8 7.3h2.4v1.4H.8zM12.8 7.3h2.4v1.4h-2.4zM2.4 3.4l1-1 1.7 1.7-1 1zM10.9 11.9l1-1 1.7 1.7-1 1zM2.4 12.6l1.7-1.7 1 1-1.7 1.7zM10.9 4.1l1.7-1.7 1 1-1.7 1.7z";
const MOON = "M6.2 1.6a6.6 6.6 0 1 0 8.2 8.2A5.6 5.6 0 0 1 6.2 1.6z";

/** component: {element, props, texts, languages (code → its own name), chosen}. props.value: the language, for the server. */
export function showHead({ element, props, texts, languages, chosen }) {
  const root = element.querySelector(".sp-head");
  let lang = language(texts);
  const draw = () => {
    patch(root, view(lang, languages, texts[lang]));
    showChosen(root.querySelector(".sp-tabs"));
  };
  const choose = (wanted) => {
    lang = wanted;
    props.value = wanted;
    document.documentElement.lang = wanted;
    document.title = texts[wanted]["ui.page.title"];
    draw();
    chosen();
  };
  followAddress();
  root.addEventListener("click", (event) => {
    const tab = event.target.closest("a[data-tab]");
    if (tab && opensHere(event)) {
      event.preventDefault();
      chooseTab(tab.dataset.tab);
    }
    if (event.target.closest("[data-lessons]") && opensHere(event)) {
      event.preventDefault();
      part("lessons")?.toggle();
    }
    const button = event.target.closest("button");
    if (button?.dataset.lang && button.dataset.lang !== lang) choose(button.dataset.lang);
    if (button?.dataset.do === "theme") setTheme(readTheme() === "dark" ? "light" : "dark");
  });
  // A link that acts as a button: its space opens it too, as of every button.
  root.addEventListener("keydown", (event) => {
    if (event.key !== " " || !event.target.closest("[data-lessons]")) return;
    event.preventDefault();
    event.target.click();
  });
  watchTheme(draw);
  watchTab(draw);
  watchLearning(draw);
  choose(lang);
}

// Where the bar is wider than the screen it scrolls by itself, and the tab on show stays in sight.
function showChosen(bar) {
  const chosen = bar?.querySelector("[aria-current]");
  if (!chosen) return;
  const [left, right] = [chosen.offsetLeft - bar.offsetLeft, chosen.offsetLeft - bar.offsetLeft + chosen.offsetWidth];
  if (right > bar.scrollLeft + bar.clientWidth) bar.scrollLeft = right - bar.clientWidth;
  else if (left < bar.scrollLeft) bar.scrollLeft = left;
}

// The lessons are opened and closed from several places.
function watchLearning(draw) {
  let on = false;
  const look = () => {
    if (document.body.classList.contains("sp-learning") === on) return;
    on = !on;
    draw();
  };
  new MutationObserver(look).observe(document.body, { attributes: true, attributeFilter: ["class"] });
}

function view(lang, languages, table) {
  const dark = readTheme() === "dark";
  return [
    h("h1", {}, "specdemo", h("small", {}, table["ui.page.tagline"])),
    tabs(table),
    h(
      "div",
      { class: "sp-switches" },
      h(
        "div",
        { class: "sp-language", role: "group", "aria-label": table["ui.page.language"] },
        Object.entries(languages).map(([code, name]) => h("button", { type: "button", "data-lang": code, lang: code, "aria-pressed": String(code === lang) }, name)),
      ),
      h(
        "button",
        { type: "button", class: "sp-theme", "data-do": "theme", "aria-label": table[dark ? "ui.page.light" : "ui.page.dark"], title: table[dark ? "ui.page.light" : "ui.page.dark"] },
        h("svg", { viewBox: "0 0 16 16", class: "sp-icon", "aria-hidden": "true" }, h("path", { d: dark ? SUN : MOON })),
      ),
    ),
  ];
}
