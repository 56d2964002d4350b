// Tells the server where the presenter went: one request at a time, the newest place wins.

const TICK_MS = 400;

export class Post {
  /** wire: of the workshop. tab: this tab's name. failed(error), or with null: it works. settled(state): what is now. */
  constructor(wire, tab, failed, settled = () => {}) {
    Object.assign(this, { wire, tab, failed, settled, waiting: null, busy: false, timer: null, sent: 0 });
  }

  /** changes: of the place. playing_on: a run plays and nobody touched anything; then there is no hurry. */
  change(changes, playing_on = false) {
    const both = playing_on && (this.waiting?.playing_on ?? true);
    this.waiting = { ...this.waiting, ...changes, playing_on: both };
    if (both && Date.now() - this.sent < TICK_MS) {
      this.timer ??= setTimeout(() => this.flush(), TICK_MS);
    } else this.flush();
  }

  async flush() {
    clearTimeout(this.timer);
    this.timer = null;
    if (this.busy || !this.waiting) return;
    const value = { ...this.waiting, by: this.tab };
    this.waiting = null;
    this.busy = true;
    this.sent = Date.now();
    let state = null;
    try {
      state = await this.wire.post("place", value);
      this.failed(null);
    } catch (error) {
      this.failed(error);
    }
    this.busy = false;
    if (this.waiting) this.change({}, this.waiting.playing_on);
    else if (state) this.settled(state);
  }

  /** True while the server does not know yet where this tab is. */
  get pending() {
    return this.busy || this.waiting !== null;
  }

  /** What was not sent yet is not wanted any more. */
  drop() {
    this.waiting = null;
  }
}
