// A guided tour: leads through recorded runs by steps, each a list of beats. Knows steps as data and a host that shows
// things; no page, no language.
//
// A step is {id, trace, beats}. A beat is what to do and how long it stays:
//   at: where to stand first: "start", "end", "telling" (just after the round that shows most), a number of steps, or a
//     name that the host knows.
//   play: play to the end from there. speed: how fast. scene: the name of what to show over the lanes.
//   hold: seconds before it goes on; without it the beat waits for the visitor.

import { tellingRound } from "./telling.js";

/** Leads through `steps`. changed() is called after every change of what is on. */
export class Tour {
  /**
   * host: {load(trace): a promise of the run or null, put(run) on the stage, player: the handle of now,
   * showScene(name or null)}; and where steps need them stand(name) and arrived(beat), told of every beat that is on.
   * clock: {after(milliseconds, callback): an id, cancel(id)}. still: the reader wants no motion: every step then shows
   * its last beat and waits.
   */
  constructor(steps, host, clock, changed, still = false) {
    Object.assign(this, { steps, host, clock, changed, still });
    this.index = -1;
    this.turn = 0;
    this.playing = false;
    this.timer = null;
  }

  /** The step that is on, or null. */
  get step() {
    return this.steps[this.index] ?? null;
  }

  get first() {
    return this.index === 0;
  }

  get last() {
    return this.index === this.steps.length - 1;
  }

  start() {
    return this.enter(0);
  }

  next() {
    return this.last ? this.end() : this.enter(this.index + 1);
  }

  back() {
    return this.enter(Math.max(0, this.index - 1));
  }

  /** Leaves the stage to the visitor as it is. */
  end() {
    if (!this.step) return;
    this.leave();
    this.index = -1;
    this.changed();
  }

  /** The player has moved: a beat that plays is over at the end. */
  moved() {
    const { player } = this.host;
    if (!this.playing || player.position() < player.last()) return;
    this.playing = false;
    this.hold();
  }

  async enter(index) {
    this.leave();
    this.index = index;
    const { turn } = this;
    this.changed();
    const run = await this.host.load(this.step.trace);
    if (turn !== this.turn) return;
    if (!run) {
      this.end();
      return;
    }
    this.host.put(run);
    this.beat(this.still ? this.step.beats.length - 1 : 0);
  }

  leave() {
    this.turn += 1;
    this.playing = false;
    if (this.timer !== null) this.clock.cancel(this.timer);
    this.timer = null;
    this.host.showScene(null);
  }

  beat(number) {
    this.number = number;
    const { at, play, speed, scene } = this.step.beats[number];
    const { player } = this.host;
    if (speed) player.setSpeed(speed);
    this.stand(this.still && play ? "end" : (at ?? this.earlier(number)));
    this.host.showScene(scene ?? null);
    this.host.arrived?.(this.step.beats[number]);
    this.playing = Boolean(play) && !this.still;
    if (this.playing) player.play();
    else this.hold();
  }

  // Where the beats before have led: needed where they are left out.
  earlier(number) {
    return this.still ? this.step.beats.slice(0, number).findLast((beat) => beat.at !== undefined)?.at : undefined;
  }

  stand(at) {
    const { player } = this.host;
    if (at === "start") player.seek(0);
    else if (at === "end") player.seek(player.last());
    else if (at === "telling") player.goToRound(tellingRound(player.rounds()));
    else if (typeof at === "string") this.host.stand(at);
    else if (at !== undefined) player.seek(at);
  }

  hold() {
    const { hold } = this.step.beats[this.number];
    if (hold === undefined || this.still) return;
    this.timer = this.clock.after(1000 * hold, () => {
      this.timer = null;
      if (this.number + 1 < this.step.beats.length) this.beat(this.number + 1);
      else this.next();
    });
  }
}
