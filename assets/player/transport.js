// Where the player stands and how it moves. Knows positions, clocks and speeds, nothing of the page.
// Playback follows the lanes' own device clocks: at speed 1 the race takes as long as it took.

export const SPEEDS = [0.25, 0.5, 1, 2, 4];
const COMFORTABLE_S = 6;
const LONGEST_FRAME_S = 0.1;

/** The largest speed up to 1 at which a race of `seconds` lasts long enough to be watched. */
export function comfortableSpeed(seconds) {
  return SPEEDS.filter((speed) => speed <= 1 && seconds / speed >= COMFORTABLE_S).pop() ?? SPEEDS[0];
}

/**
 * A position in a timeline. `clock` is {now() in ms, request(callback), cancel(id)}; `changed()` is called after every move,
 * `ended()` when it has played to the end.
 */
export class Transport {
  constructor(clock, changed, ended = () => {}) {
    Object.assign(this, { clock, changed, ended });
    this.speed = 1;
    this.restart(null);
  }

  /** Another stream: stand at its start. A live one is followed. */
  restart(timeline) {
    this.stop();
    this.timeline = timeline;
    this.position = 0;
    this.seconds = 0;
    this.live = timeline?.header?.kind === "live";
    this.following = this.live;
  }

  get last() {
    return this.timeline ? this.timeline.steps.length : 0;
  }

  get playing() {
    return this.frame !== null;
  }

  get atEnd() {
    return this.position >= this.last;
  }

  /** The timeline has grown: go with it while following. */
  grown() {
    if (this.following) this.stand(this.last);
  }

  play() {
    if (this.playing || this.last === 0) return;
    if (this.atEnd && !this.running) this.stand(0);
    this.following = false;
    this.before = this.clock.now();
    this.request();
    this.changed();
  }

  pause() {
    const was = this.playing || this.following;
    this.stop();
    this.following = false;
    if (was) this.changed();
  }

  toggle() {
    if (this.playing || (this.following && this.running)) this.pause();
    else this.play();
  }

  /** Stand after `position` steps and stay there. */
  seek(position) {
    this.stop();
    this.following = false;
    this.stand(Math.max(0, Math.min(Math.round(position), this.last)));
    this.changed();
  }

  step(by) {
    this.seek(this.position + by);
  }

  /** Follow the newest event again. */
  toLive() {
    this.stop();
    this.following = true;
    this.stand(this.last);
    this.changed();
  }

  setSpeed(speed) {
    this.speed = Math.max(SPEEDS[0], Math.min(speed, SPEEDS[SPEEDS.length - 1]));
    this.changed();
  }

  /** True while a live run goes on. */
  get running() {
    return this.live && !this.timeline.finished;
  }

  stop() {
    if (this.frame) this.clock.cancel(this.frame.id);
    this.frame = null;
  }

  stand(position) {
    this.position = position;
    this.seconds = position > 0 ? this.timeline.steps[position - 1].clock : 0;
  }

  request() {
    this.frame = { id: this.clock.request(() => this.tick()) };
  }

  tick() {
    const now = this.clock.now();
    // A hidden tab gets no frames: it goes on where it was instead of jumping.
    this.seconds += Math.min((now - this.before) / 1000, LONGEST_FRAME_S) * this.speed;
    this.before = now;
    const position = Math.max(this.position, this.timeline.positionAt(this.seconds));
    const moved = position !== this.position;
    this.position = position;
    if (!this.atEnd) {
      this.request();
      if (moved) this.changed();
      return;
    }
    this.frame = null;
    this.following = this.running;
    this.changed();
    if (!this.following) this.ended();
  }
}
