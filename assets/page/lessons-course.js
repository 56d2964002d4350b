// A course: which entry is open, what was answered, which recorded runs it needs. Knows entries as data and a host that
// shows things; no page, no language.
//
// An entry is a lesson, a claim or a bug, as assets/lessons/lessons.json tells. host: {load(id): a promise of a run or null,
// put(run), text(run): its trace, player: the handle of now, showScene(name or null), tab(name), focus(selector or null),
// select({round, slot}), remember(id or null), and what can be tried: settings(values), theory(numbers), prove(rule); null
// where the page has no such thing}.

import { coinOf, fallOf, numbers, readRun } from "./lessons-figures.js";
import { Tour } from "./tour.js";

export const CONTENTS = "start";
const STANDS = { coin: coinOf, fall: fallOf };

export class Course {
  /**
   * entries: as above. clock: as the tour's. changed(): what is on has changed. still: the reader wants no motion.
   * store: {read(): what was kept or {}, write(what to keep)}.
   */
  constructor(entries, host, clock, changed, { still = false, store }) {
    Object.assign(this, { entries, host, clock, changed, still, store });
    this.done = store.read();
    this.entry = null;
    this.open = false;
    this.lost = false;
    this.runs = new Map();
    this.loading = new Map();
    this.turn = 0;
    this.clear();
  }

  clear() {
    this.picked = null;
    this.wrong = [];
    this.tried = null;
  }

  get index() {
    return this.entries.indexOf(this.entry);
  }

  /** The entries of the kind that is open, and the place among them. */
  get place() {
    const alike = this.entries.filter(({ kind }) => kind === this.entry?.kind);
    return { number: alike.indexOf(this.entry) + 1, of: alike.length };
  }

  /** The run that the open entry is about; null until it is there. */
  get run() {
    return this.runs.get(this.entry?.trace) ?? null;
  }

  /** The id of the right choice; null while it depends on a run that is not there yet. */
  get answer() {
    if (this.entry?.answer !== "prediction") return this.entry?.answer ?? null;
    return this.run && numbers(this.run).prediction;
  }

  get answered() {
    return this.picked !== null;
  }

  /** The list of all entries. */
  contents() {
    this.leave();
    this.entry = null;
    this.open = true;
    this.host.remember(CONTENTS);
    this.changed();
  }

  close() {
    if (!this.open) return;
    this.leave();
    this.entry = null;
    this.open = false;
    this.host.remember(null);
    this.changed();
  }

  next() {
    const after = this.entries[this.index + 1];
    return after ? this.enter(after.id) : this.contents();
  }

  back() {
    const before = this.entries[this.index - 1];
    return before ? this.enter(before.id) : this.contents();
  }

  /** Opens an entry, with its run where it has one; the contents for an id that there is not. */
  async enter(id) {
    const entry = this.entries.find((one) => one.id === id);
    if (!entry) return this.contents();
    this.leave();
    this.clear();
    Object.assign(this, { entry, open: true, lost: false });
    const { turn } = this;
    this.host.remember(id);
    this.changed();
    if (!entry.trace) {
      this.host.player.pause();
      return;
    }
    await this.read(entry.trace);
    if (turn !== this.turn) return;
    this.lost = !this.run;
    this.changed();
    if (this.lost) return;
    this.tour = this.guide(entry);
    await this.tour.start();
    for (const other of entry.runs ?? []) {
      if (turn !== this.turn) return;
      await this.read(other);
      this.changed();
    }
  }

  again() {
    return this.enter(this.entry.id);
  }

  /** Answers the question. The first answer is kept and the run tells on; others only show their reasons. */
  choose(choice) {
    const first = !this.answered;
    this.picked = choice;
    if (first) this.finish(choice);
    this.changed();
    if (first) this.tour?.enter(1);
  }

  /** Points at a line of a snippet, counted from 0; "show" gives up. */
  point(line) {
    if (this.answered) return;
    if (line === "show" || line === this.entry.line) {
      this.picked = line;
      this.finish(line === "show" ? "shown" : this.wrong.length);
    } else if (!this.wrong.includes(line)) this.wrong = [...this.wrong, line];
    this.changed();
  }

  finish(answer) {
    if (!(this.entry.id in this.done)) {
      this.done = { ...this.done, [this.entry.id]: answer };
      this.store.write(this.done);
    }
  }

  /** Forgets what was answered. */
  forget() {
    this.done = {};
    this.store.write(this.done);
    this.changed();
  }

  /** True if the page has what this takes. */
  can(action) {
    return ["settings", "theory", "prove"].every((name) => !(name in action) || this.host[name]);
  }

  /** Puts the page as a "try this" says. */
  attempt(id) {
    const action = this.entry.try.find((one) => one.id === id);
    if (!this.can(action)) return;
    this.tour?.end();
    this.tried = id;
    if (action.settings) this.host.settings(action.settings);
    if (action.theory) this.host.theory(action.theory === "run" ? this.theory() : action.theory);
    if (action.prove) this.host.prove(action.prove);
    this.host.focus(action.focus ?? null);
    this.changed();
  }

  /** The sliders of the theory as the open run measured them. */
  theory() {
    const { alpha, c, v, width, gamma } = numbers(this.run);
    const slope = v === null || width < 2 ? 0 : Math.max(0, (v - 1) / (width - 1));
    return { alpha, c: c ?? 0, slope, gamma };
  }

  /** The player has moved. */
  moved() {
    this.tour?.moved();
  }

  /** The visitor has taken over the stage. */
  release() {
    this.tour?.end();
    this.host.focus(null);
  }

  leave() {
    this.turn += 1;
    this.tour?.end();
    this.tour = null;
    this.host.focus(null);
  }

  guide({ trace, before, after }) {
    const { host } = this;
    const shown = {
      load: () => this.loading.get(trace),
      put: (run) => {
        host.tab("watch");
        host.put(run);
      },
      get player() {
        return host.player;
      },
      showScene: (name) => host.showScene(name),
      stand: (name) => this.stand(name),
      arrived: ({ focus }) => host.focus(focus ?? null),
    };
    const steps = [
      { id: "before", trace, beats: before },
      { id: "after", trace, beats: after },
    ];
    return new Tour(steps, shown, this.clock, () => {}, this.still);
  }

  stand(name) {
    const { round, slot } = STANDS[name](this.run);
    this.host.player.goToRound(round.number);
    this.host.select({ lane: this.run.race.speculative.lane.name, round: round.number, slot });
  }

  async read(id) {
    if (this.runs.has(id)) return;
    this.loading.set(id, this.host.load(id));
    const run = await this.loading.get(id);
    if (run) this.runs.set(id, readRun(this.host.text(run)));
  }
}
