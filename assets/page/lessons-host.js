// What lessons may do with a page: the stage, the theory and, where there is a server, settings and proofs.

import { query } from "./address.js";
import { part, whenThere } from "./parts.js";
import { sceneOf } from "./scenes.js";
import { choose } from "./tabs.js";

const LIT = "sp-lesson-lit";

/** settings(values): puts them into the widgets, or null where there are none. tabs: those of the page. */
export function pageHost({ settings, tabs }) {
  const stage = () => part("stage");
  const leadTo = (tab) => {
    if (document.body.classList.contains("sp-present")) stage().present(false);
    choose(tab);
  };
  return {
    ready: whenThere("stage"),
    load: (id) => stage().load(id),
    put(run) {
      window.scrollTo(0, 0);
      stage().put(run);
    },
    text: (run) => run.buffer.text,
    get player() {
      return stage().player;
    },
    showScene: (name) => stage().player.showScene(name && sceneOf(name, null)),
    takeOver: () => stage().guide.stop("off"),
    tab: choose,
    select: (selection) => stage().player.select(selection),
    focus,
    remember,
    get tour() {
      return stage()?.guide.tour.steps.length ? () => stage().do_tour() : null;
    },
    settings:
      settings &&
      ((values) => {
        leadTo("watch");
        settings(values);
      }),
    theory: tabs.includes("theory")
      ? (values) => {
          leadTo("theory");
          part("theory").take(values);
        }
      : null,
    prove: tabs.includes("prove")
      ? (rule) => {
          leadTo("prove");
          part("prove").pick(rule);
        }
      : null,
  };
}

/** Lights what fits a selector, by a rule of its own, so that what is drawn anew stays lit; null lights nothing. */
export function focus(selector) {
  let sheet = document.getElementById(LIT);
  if (!sheet) {
    sheet = document.head.appendChild(document.createElement("style"));
    sheet.id = LIT;
  }
  sheet.textContent = selector ? `${selector} { outline: 3px solid var(--sd-accent) !important; outline-offset: 3px; border-radius: 10px; }` : "";
  if (selector) window.requestAnimationFrame(() => show(document.querySelector(selector)));
}

// What is taller than the room that is left begins at its top. Where the page keeps clear of bars is in the style sheet.
function show(node) {
  if (!node) return;
  const { scrollPaddingTop, scrollPaddingBottom } = getComputedStyle(document.documentElement);
  const room = window.innerHeight - (Number.parseFloat(scrollPaddingTop) || 0) - (Number.parseFloat(scrollPaddingBottom) || 0);
  node.scrollIntoView({ block: node.offsetHeight > room ? "start" : "nearest" });
}

/** Keeps the open entry in the address, where the browser lets a page write there. */
function remember(id) {
  const given = new URLSearchParams(query());
  if (id) given.set("lesson", id);
  else given.delete("lesson");
  try {
    window.history.replaceState(null, "", `${window.location.pathname}${given.size ? `?${given}` : ""}`);
  } catch {
    // A page from a disk has no address of its own.
  }
}
