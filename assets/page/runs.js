// The visitor's last runs: kept in this page alone, gone when it is closed. Knows traces as text.

const MOST = 10;

/** Newest first; numbers go on when old runs are dropped. */
export class Runs {
  constructor() {
    this.list = [];
    this.count = 0;
  }

  /** Keeps a finished live run as a recording made now. Returns it. */
  add(text) {
    const recording = recorded(text, new Date());
    const run = { number: ++this.count, text: recording, settings: JSON.parse(firstLine(recording)).settings };
    this.list = [run, ...this.list].slice(0, MOST);
    return run;
  }

  /** The run with that number, if it is still kept. */
  get(number) {
    return this.list.find((run) => run.number === number);
  }
}

/** The same stream with a header that says when it was recorded; what is recorded already stays as it is. */
export function recorded(text, now) {
  const line = firstLine(text);
  const header = JSON.parse(line);
  if (header.kind !== "live") return text;
  const stamp = now.toISOString().replace(/\.\d+Z$/, "+00:00");
  return JSON.stringify({ ...header, kind: "trace", recorded: stamp }) + text.slice(line.length);
}

function firstLine(text) {
  return text.slice(0, text.indexOf("\n"));
}
