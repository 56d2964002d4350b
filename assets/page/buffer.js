// The text of a stream, put together from what the server sends: its latest part, with the line at which that begins.

const STARTED = '{"event":"run_started"';
const FINISHED = '{"event":"run_finished"';

/** Keeps the text of the run on show. */
export class Buffer {
  constructor(text = "") {
    this.run = null;
    this.clear();
    this.append(text);
  }

  clear() {
    this.parts = [];
    this.lines = 0;
    this.open = 0;
    this.started = 0;
  }

  /** All of the text. A string that grows by `+=` would be copied at every look at it. */
  get text() {
    if (this.parts.length > 1) this.parts = [this.parts.join("")];
    return this.parts[0] ?? "";
  }

  /** True once every lane that has started has ended. */
  get whole() {
    return this.started > 0 && this.open === 0;
  }

  /**
   * Takes in a value of the stage. Returns what its first line says and the lines that are `news`, or null if it brings
   * nothing: no new line, or lines with a gap before them.
   */
  receive(value) {
    const end = value.indexOf("\n");
    if (end < 0) return null;
    const named = JSON.parse(value.slice(0, end));
    if (named.run !== this.run) this.clear();
    this.run = named.run;
    const first = named.first || 0;
    if (first > this.lines) return null;
    let last = end;
    for (let known = this.lines - first; known > 0; known--) {
      last = value.indexOf("\n", last + 1);
      if (last < 0) return null;
    }
    const news = value.slice(last + 1);
    this.append(news);
    return news === "" ? null : { ...named, news };
  }

  // Lines begin so only if they are events: text has no line feeds.
  append(text) {
    let at = 0;
    for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n", at)) {
      this.lines++;
      if (text.startsWith(STARTED, at)) {
        this.started++;
        this.open++;
      } else if (text.startsWith(FINISHED, at)) this.open--;
      at = end + 1;
    }
    if (text !== "") this.parts.push(text);
  }
}
