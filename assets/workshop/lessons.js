// A lesson before a class: show, ask, answer, explain. Knows lessons as data and a tour that stands where they say.

import { coinOf, fallOf, numbers, readRun, said } from "../page/lessons-figures.js";
import { fill, parse } from "../page/lessons-text.js";
import { Tour } from "../page/tour.js";
import { translator } from "../player/labels.js";

export const STAGES = ["show", "ask", "answer", "explain"];
const STANDS = { coin: coinOf, fall: fallOf };
const TIMERS = { after: (milliseconds, callback) => window.setTimeout(callback, milliseconds), cancel: (id) => window.clearTimeout(id) };

/** data: of specdemo/web/lessons.py. texts: the page's tables. Only lessons: claims need many runs, bugs none. */
export class Lessons {
  constructor(data, texts) {
    this.entries = data.entries.filter(({ kind }) => kind === "lesson");
    this.languages = Object.keys(data.words);
    this.words = Object.fromEntries(this.languages.map((lang) => [lang, Object.fromEntries(this.entries.map(({ id }) => [id, parse(data.words[lang][id])]))]));
    this.speak = Object.fromEntries(this.languages.map((lang) => [lang, translator(texts, lang)]));
  }

  entry(id) {
    return this.entries.find((one) => one.id === id) ?? null;
  }

  /** Language → title. */
  title(id) {
    return Object.fromEntries(this.languages.map((lang) => [lang, this.words[lang][id].title]));
  }

  /** The question as it is sent to the class. text: the trace that it is about. */
  question(id, text) {
    const run = readRun(text);
    const say = (lang, words) => bare(fill(words, (name) => said(run, this.speak[lang])[name]));
    const each = (find) => Object.fromEntries(this.languages.map((lang) => [lang, find(lang, this.words[lang][id].sections)]));
    return {
      kind: `lesson-${id}`,
      text: each((lang, { question }) => question.paragraphs.map((words) => say(lang, words)).join("\n")),
      options: this.choices(id).map((choice) => each((lang, { choices }) => say(lang, choices.items.get(choice)))),
    };
  }

  choices(id) {
    return [...this.words[this.languages[0]][id].sections.choices.items.keys()];
  }

  /** The number of the right choice. */
  answer(id, text) {
    const { answer } = this.entry(id);
    return this.choices(id).indexOf(answer === "prediction" ? numbers(readRun(text)).prediction : answer);
  }

  /** Leads a player through a part of a lesson. host: as a tour's, with text(id). */
  guide(id, part, host, still) {
    const { trace, [part]: beats } = this.entry(id);
    const shown = {
      ...host,
      get player() {
        return host.player;
      },
      stand: async (name) => {
        const run = readRun(await host.text(trace));
        const { round, slot } = STANDS[name](run);
        host.player.goToRound(round.number);
        host.player.select({ lane: run.race.speculative.lane.name, round: round.number, slot });
      },
    };
    return new Tour([{ id, trace, beats }], shown, TIMERS, () => {}, still);
  }
}

// Votes and answers are plain text: **strong** and `code` lose their marks.
function bare(words) {
  return words.replace(/\*\*([^*]+)\*\*/g, "$1").replace(/`([^`]+)`/g, "$1");
}
