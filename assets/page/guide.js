// The strip above the stage that leads through a tour, and when it begins and ends by itself. Knows the stage.

import { reducesMotion } from "../player/clock.js";
import { h, patch } from "../player/dom.js";
import { icon } from "../player/icons.js";
import { keyAction } from "../player/keys.js";
import { query } from "./address.js";
import { CONTENTS } from "./lessons-course.js";
import { part } from "./parts.js";
import { sceneOf } from "./scenes.js";
import { FIRST } from "./tour-steps.js";
import { TABS, asked as askedTab } from "./tabs.js";
import { Tour } from "./tour.js";

const SEEN = "specdemo-tour";
const NEUTRAL = ["lang", "tab", "view", "__theme"];
const TIMERS = { after: (milliseconds, callback) => window.setTimeout(callback, milliseconds), cancel: (id) => window.clearTimeout(id) };

/**
 * stage: {element, player, traces, load(id): a promise of a run or null, put(run), say(key)}. States: "off" (no strip),
 * "waiting" (for a visitor who wants no motion), "on", "over" (the strip stays, so that nothing moves, and says what next).
 */
export class Guide {
  constructor(stage) {
    this.stage = stage;
    this.node = stage.element.querySelector(".sp-tour");
    this.still = reducesMotion(window);
    this.answer = null;
    const there = ({ trace }) => stage.traces.some(({ id }) => id === trace);
    const steps = FIRST.every(there) ? FIRST : [];
    const host = {
      load: (trace) => stage.load(trace),
      put: (run) => stage.put(run),
      get player() {
        return stage.player;
      },
      showScene: (name) => this.showScene(name),
    };
    this.tour = new Tour(steps, host, TIMERS, () => this.draw(), this.still);
    this.state = steps.length && this.wanted() ? "waiting" : "off";
    this.node.addEventListener("click", (event) => this.clicked(event.target.closest("button")));
    stage.element.addEventListener("click", (event) => this.answered(event.target.closest("[data-answer]")));
    for (const name of ["click", "input", "change", "keydown"]) document.addEventListener(name, (event) => this.acted(event), true);
  }

  /** True if the tour shall begin by itself: at a first visit, by an address that asks for nothing else. */
  wanted() {
    const asked = query();
    if (asked.tour) return true;
    return asked.view !== "present" && askedTab() === TABS[0] && !stored() && Object.keys(asked).every((name) => NEUTRAL.includes(name));
  }

  /** The first run is on the stage. */
  begin() {
    if (this.state === "waiting" && !this.still) this.start();
    else this.draw();
  }

  start() {
    this.state = "on";
    store();
    this.tour.start();
  }

  /** The visitor has taken over. */
  stop(state = "over") {
    if (this.state === "off") return;
    this.state = state;
    store();
    this.tour.end();
    this.draw();
  }

  // What a visitor does on the stage or in the settings is theirs: the tour gives way at once.
  acted(event) {
    if (this.state !== "on" && this.state !== "waiting") return;
    const { target } = event;
    if (event.key === "Escape") this.stop("off");
    else if (target.closest?.("#dock, .sp-stage, .sp-tabs") && !target.closest(".sp-tour, .sd-scene") && isAction(event)) this.stop();
  }

  clicked(button) {
    const act = {
      start: () => this.start(),
      next: () => (this.tour.last ? this.stop() : this.tour.next()),
      back: () => {
        this.tour.back();
        // At the first step there is no way back, and the focus would be lost with its button.
        if (this.tour.first) this.node.querySelector("[data-tour=next]").focus();
      },
      skip: () => this.stop("off"),
      lessons: () => part("lessons")?.enter(CONTENTS),
    };
    act[button?.dataset.tour]?.();
  }

  answered(button) {
    if (!button || this.answer) return;
    this.answer = button.dataset.answer;
    this.showScene(this.scene);
  }

  showScene(name) {
    if (name === null) this.answer = null;
    if (name === null && !this.scene) return;
    this.scene = name;
    this.stage.player.showScene(name && sceneOf(name, this.answer));
  }

  moved() {
    this.tour.moved();
  }

  draw() {
    if (this.state === "on" && !this.tour.step) this.state = "over";
    this.node.hidden = this.state === "off";
    patch(this.node, this.state === "off" ? [] : [this.strip()]);
  }

  strip() {
    const say = (key) => this.stage.say(`tour.${key}`);
    const { tour, state } = this;
    const on = state === "on";
    return h(
      "section",
      { class: "sp-tour-strip", "aria-label": say("label") },
      h(
        "ol",
        { class: "sp-tour-steps", "aria-label": say("steps") },
        tour.steps.map((step, i) => h("li", { class: i <= tour.index || state === "over" ? "sp-past" : null, "aria-current": i === tour.index ? "step" : null }, String(i + 1))),
      ),
      h("p", { class: "sp-tour-caption", role: "status" }, say(on ? tour.step.id : state)),
      h(
        "div",
        { class: "sp-tour-moves" },
        on && !tour.first ? button("back", say("back"), icon("previous")) : null,
        // One button in all states: who goes on by keyboard stays on it.
        on ? button("next", say(tour.last ? "done" : "next"), null, icon("next"), "on") : button("start", say(state === "over" ? "again" : "start"), icon("play"), null, "on"),
        state === "over" ? button("lessons", say("lessons"), null, icon("next")) : null,
        button("skip", say(on ? "skip" : "close"), icon("close")),
      ),
    );
  }
}

function button(name, label, before = null, after = null, key = name) {
  return h("button", { type: "button", key, class: "sp-tour-button", "data-tour": name }, before, h("span", {}, label), after);
}

/** True for what a visitor does to the page, and not merely on it. */
export function isAction(event) {
  if (event.type === "keydown") return ![null, "reveal"].includes(keyAction(event, document.body.classList.contains("sp-present")));
  if (event.type !== "click") return true;
  if (document.body.classList.contains("sp-present")) return false;
  return Boolean(event.target.closest("button, select, input, a, [data-do]"));
}

// A frame around the page may forbid it to keep anything.
function storage() {
  try {
    return window.localStorage;
  } catch {
    return null;
  }
}

function stored() {
  return storage()?.getItem(SEEN) ?? null;
}

function store() {
  storage()?.setItem(SEEN, "seen");
}
