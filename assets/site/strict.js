// Reads a visitor's trace strictly, as specdemo/wire.py does: what this project would not have written is refused.
// Knows lines and where they may stand. Fields are in fields.js, the order of events in grammar.js.
//
// One thing is laxer than in Python, because JSON.parse tells less: 3.0 is taken for the whole number 3.

import { EVENTS, HEADER, Misfit, STRINGS } from "./fields.js";
import { Grammar } from "./grammar.js";

export const VERSION = 1;
export const MAX_LINE = 2_000_000;
export const MAX_LINES = 200_000;
const KINDS = ["text", "bytes", "special"];
const ID = /^(0|[1-9][0-9]{0,9})$/;

/**
 * The parsed lines of a trace. Throws a `Misfit` {key, params} where something is wrong. most: bytes of the largest.
 * rules: ids of the verification rules that there are.
 */
export function readTrace(text, { most, rules }) {
  const bytes = new TextEncoder().encode(text).length;
  if (bytes > most) throw new Misfit("trace_bytes", { limit: Math.floor(most / 1e6) });
  const reader = new Reader(rules);
  const lines = text.split("\n");
  const whole = lines.pop() === "";
  if (!whole && lines.length > 0) lines.push(null);
  if (!whole && lines.length === 0) lines.push(text);
  const records = lines.map((line) => reader.read(line));
  if (records.length < 2 || !records.some((record) => record.event)) throw new Misfit("trace_empty");
  return records;
}

class Reader {
  constructor(rules) {
    this.rules = rules;
    this.line = 0;
    this.strings = new Set();
    this.grammar = new Grammar(rules);
  }

  /** One line, or null for one that breaks off. */
  read(line) {
    this.line += 1;
    if (line === null) throw new Misfit("trace_cut", { line: this.line });
    if (this.line > MAX_LINES) throw new Misfit("trace_lines", { limit: MAX_LINES });
    if (tooLong(line)) throw new Misfit("trace_line", { line: this.line, limit: MAX_LINE / 1e6 });
    try {
      return this.take(parsed(line));
    } catch (error) {
      if (!(error instanceof Misfit)) throw error;
      throw new Misfit(error.key, { line: this.line, ...error.params });
    }
  }

  take(record) {
    if (this.line === 1) return header(record ?? {}, this.rules);
    if (record === null) throw new Misfit("trace_json");
    const names = Object.keys(record);
    if (names.length === 1 && names[0] === "strings") this.name(record.strings);
    else this.event(record);
    return record;
  }

  name(strings) {
    STRINGS(strings, "strings");
    for (const [id, [, kind]] of Object.entries(strings)) {
      if (!ID.test(id) || !KINDS.includes(kind) || this.strings.has(Number(id))) throw new Misfit("trace_field", { field: "strings" });
      this.strings.add(Number(id));
    }
  }

  event({ event: name, ...fields }) {
    if (typeof name !== "string" || !Object.hasOwn(EVENTS, name)) throw new Misfit("trace_event");
    EVENTS[name](fields, name);
    this.grammar.check(fields, name);
    for (const token of ids(fields, name)) if (!this.strings.has(token)) throw new Misfit("trace_string", { token });
  }
}

function header({ specdemo: version, ...fields }, rules) {
  if (!Number.isInteger(version) || version < 1) throw new Misfit("trace_alien");
  if (version > VERSION) throw new Misfit("trace_newer");
  HEADER(fields, "header");
  if (!rules.includes(fields.settings.rule ?? rules[0])) throw new Misfit("trace_field", { field: "header.settings" });
  return { specdemo: version, ...fields };
}

// A sign of UTF-16 takes at most three bytes, so short lines need no counting.
function tooLong(line) {
  return 3 * line.length >= MAX_LINE && new TextEncoder().encode(line).length + 1 > MAX_LINE;
}

/** The JSON object in a line, null if it is none. */
function parsed(line) {
  try {
    const value = JSON.parse(line);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? value : null;
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof RangeError) return null;
    throw error;
  }
}

/** Every token id that an event mentions. */
function ids(event, name) {
  if (name === "run_started") return event.prompt;
  if (name === "drafted" || name === "run_finished") return event.tokens;
  if (name === "judged") return event.emitted;
  if (name !== "inspected") return [];
  return event.positions.flatMap(({ p_top, q_top, residual_top }) => [p_top, q_top, residual_top].flatMap((top) => (top ?? []).map(([id]) => id)));
}
