// The panel of lessons: put in place, opened and closed, driven by clicks and keys. Knows its course and its element; the
// page is behind the host.

import { reducesMotion } from "../player/clock.js";
import { patch } from "../player/dom.js";
import { translator } from "../player/labels.js";
import { language, query, watchLanguage } from "./address.js";
import { isAction } from "./guide.js";
import { CONTENTS, Course } from "./lessons-course.js";
import { parse } from "./lessons-text.js";
import { KINDS, panel } from "./lessons-view.js";
import { teller } from "./tell.js";

const KEPT = "specdemo-lessons";
const TIMERS = { after: (milliseconds, callback) => window.setTimeout(callback, milliseconds), cancel: (id) => window.clearTimeout(id) };

export class Lessons {
  /**
   * element: an empty element for the panel. texts: language → key → text. data: of specdemo/web/lessons.py: {entries,
   * words: {language: {id: markdown}}, code: {id: {lines, fix}}, cache}. traces: [{id, titles}] of the recorded runs. host: see
   * lessons-course.js; with ready: a promise that the page is there, takeOver(): ends whatever else leads, and tour(): begins the short tour, or null.
   */
  constructor({ element, texts, data, traces, host }) {
    Object.assign(this, { element, data, traces, host });
    this.say = teller(texts, "lessons", language(texts));
    this.t = translator(texts, language(texts));
    this.words = Object.fromEntries(Object.entries(data.words).map(([lang, all]) => [lang, Object.fromEntries(Object.entries(all).map(([id, words]) => [id, parse(words)]))]));
    this.small = false;
    const there = new Set(traces.map(({ id }) => id));
    const fits = ({ trace, runs = [] }) => [trace, ...runs].every((id) => !id || there.has(id));
    const entries = KINDS.flatMap((kind) => data.entries.filter((entry) => entry.kind === kind && fits(entry)));
    this.course = new Course(entries, host, TIMERS, () => this.draw(), { still: reducesMotion(window), store: STORE });
    this.shown = this.picked = null;
    document.body.classList.toggle("sp-taught", entries.length > 0);
    element.addEventListener("click", (event) => this.clicked(event.target.closest("[data-lesson-do]")));
    element.addEventListener("keydown", (event) => this.pressed(event));
    for (const name of ["click", "input", "change", "keydown"]) document.addEventListener(name, (event) => this.acted(event), true);
    watchLanguage((lang) => {
      this.say.language = lang;
      this.t.setLanguage(lang);
      this.draw();
    });
    this.draw();
    host.ready.then(() => this.begin());
  }

  /** Opens what the address asks for: `lesson=start`, an id, or the number of a lesson. */
  begin() {
    const { lesson } = query();
    if (!lesson) return;
    const { entries } = this.course;
    this.enter((entries[Number(lesson) - 1] ?? entries.find(({ id }) => id === lesson))?.id ?? CONTENTS);
  }

  enter(id) {
    this.small = false;
    this.host.takeOver();
    if (id === CONTENTS) this.course.contents();
    else this.course.enter(id);
  }

  toggle() {
    if (this.course.open) this.course.close();
    else this.enter(CONTENTS);
  }

  clicked(button) {
    if (!button || button.getAttribute("aria-disabled") === "true") return;
    const { course } = this;
    const { choice, entry, line, attempt, lessonDo } = button.dataset;
    const act = {
      contents: () => course.contents(),
      enter: () => course.enter(entry),
      next: () => course.next(),
      back: () => course.back(),
      again: () => {
        this.shown = null; // its page begins anew, with the focus on its title
        course.again();
      },
      choose: () => course.choose(choice),
      point: () => course.point(line === "show" ? line : Number(line)),
      attempt: () => this.attempt(attempt),
      tour: () => this.leave(() => this.host.tour()),
      forget: () => course.forget(),
      fold: () => this.fold(!this.small),
      close: () => this.leave(),
    };
    act[lessonDo]();
  }

  leave(after = () => {}) {
    this.course.close();
    document.querySelector("[data-lessons]")?.focus();
    after();
  }

  attempt(id) {
    // On a phone the sheet would lie over what is to be tried.
    if (window.matchMedia("(max-width: 999px)").matches) this.small = true;
    this.course.attempt(id);
  }

  fold(small) {
    this.small = small;
    this.draw();
  }

  pressed(event) {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const choice = this.element.querySelectorAll("[data-choice]")[Number(event.key) - 1];
    if (event.key === "Escape") this.leave();
    else if (/^[1-9]$/.test(event.key) && choice) choice.click();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  // What a visitor does on the stage or in the settings is theirs: a run that tells gives way at once.
  acted(event) {
    if (this.course.entry && event.target.closest?.("#dock, .sp-stage") && isAction(event)) this.course.release();
  }

  /** The player has moved. */
  moved() {
    this.course.moved();
  }

  draw() {
    const { course, say, element } = this;
    const entry = course.open ? (course.entry?.id ?? CONTENTS) : null;
    // What is folded is folded for the page behind it; another entry is to be read.
    if (entry !== this.shown) this.small = false;
    document.body.classList.toggle("sp-learning", course.open);
    document.body.classList.toggle("sp-folded", course.open && this.small);
    element.hidden = !course.open;
    element.setAttribute("aria-label", say("title"));
    patch(element, course.open ? panel(this.view()) : []);
    if (entry !== this.shown) this.turned(entry);
    else if (course.entry && (course.picked !== this.picked || course.wrong.length)) element.querySelector(".sp-lesson-reason")?.scrollIntoView({ block: "nearest" });
    this.picked = course.picked;
  }

  view() {
    const { course, say, t, small, data } = this;
    return {
      course,
      say,
      t,
      small,
      tours: Boolean(this.host.tour),
      words: (id) => this.words[say.language][id],
      titles: (id) => this.traces.find((trace) => trace.id === id).titles[say.language] ?? id,
      cache: { ...cacheWords(data.cache), ...data.cache },
      code: (id) => data.code[id],
    };
  }

  // A new page begins at its top, and a screen reader reads its title.
  turned(entry) {
    this.shown = entry;
    if (entry === null) return;
    this.element.querySelector(".sp-lesson-body").scrollTop = 0;
    this.element.querySelector(".sp-lesson-title").focus({ preventScroll: true });
  }
}

/** The row that a sentence speaks of: the longest text. */
function cacheWords({ rows, date, hardware, dtype }) {
  const { tokens, with_cache_s, without_s } = rows.at(-1);
  const ms = (seconds) => `${(1000 * seconds).toFixed(0)} ms`;
  return { length: String(tokens), with: ms(with_cache_s), without: ms(without_s), times: (without_s / with_cache_s).toFixed(0), day: date, machine: hardware.processor, dtype };
}

// A frame around the page may forbid it to keep anything; and what is kept may be anything.
const STORE = {
  read() {
    try {
      const kept = JSON.parse(window.localStorage.getItem(KEPT) ?? "{}");
      return kept && typeof kept === "object" && !Array.isArray(kept) ? kept : {};
    } catch {
      return {};
    }
  },
  write(done) {
    try {
      window.localStorage.setItem(KEPT, JSON.stringify(done));
    } catch {
      // Then it is forgotten with the page.
    }
  },
};
