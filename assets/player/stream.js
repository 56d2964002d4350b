// Reads the append-only stream: one JSON object per line, the header first. Knows lines, not what is in them.

const TAIL = 48;

/** An incremental reader. Feed it the whole text so far; only whole new lines are parsed. */
export class Stream {
  constructor() {
    this.restart();
  }

  restart() {
    this.offset = 0;
    this.header = null;
    this.tail = "";
  }

  /**
   * Takes in the text so far. `fresh` is true where this is another stream than before: then forget everything.
   * `records` are the parsed lines behind the header. A last line without its line feed waits for the rest.
   */
  read(text) {
    const before = this.header;
    if (!this.continues(text)) this.restart();
    const records = this.lines(text, this.offset);
    this.offset = text.lastIndexOf("\n") + 1;
    this.tail = text.slice(Math.max(0, this.offset - TAIL), this.offset);
    return { fresh: this.header !== before, header: this.header, records };
  }

  /** Takes in whole lines that follow what was read, without a look at that. Returns the same. */
  more(text) {
    const before = this.header;
    const records = this.lines(text, 0);
    this.offset += text.length;
    this.tail = (this.tail + text).slice(-TAIL);
    return { fresh: this.header !== before, header: this.header, records };
  }

  lines(text, from) {
    const records = [];
    let at = from;
    for (let end = text.indexOf("\n", at); end >= 0; end = text.indexOf("\n", at)) {
      const line = text.slice(at, end);
      at = end + 1;
      if (line.trim() !== "") this.take(line, records);
    }
    return records;
  }

  take(line, records) {
    const record = JSON.parse(line);
    if (record.specdemo === undefined) {
      if (this.header) records.push(record);
    } else {
      // A second header in one text: whatever came before it belongs to an earlier run.
      this.header = record;
      records.length = 0;
    }
  }

  // Comparing the whole text would cost time at every update; its length and the end of what was read are enough.
  continues(text) {
    return text.length >= this.offset && text.startsWith(this.tail, this.offset - this.tail.length);
  }
}
