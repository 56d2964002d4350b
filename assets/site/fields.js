// What the fields of a trace may hold: specdemo/core/events.py, wire.py and config.py once more, for pages without a
// server. A reader takes (value, where) and throws a `Misfit` that names the field. A test compares both languages.

/** A value that cannot be. key: of the sentence `error.<key>`; params fill it. */
export class Misfit extends Error {
  constructor(key, params = {}) {
    super(key);
    Object.assign(this, { key, params });
  }
}

const LARGEST = 2 ** 53;
const FATES = ["accepted", "rejected", "discarded", "resampled", "bonus", "plain"];

const misfit = (field) => new Misfit("trace_field", { field });

const when = (fits) => (value, where) => {
  if (!fits(value)) throw misfit(where);
};
const isWhole = (value) => Number.isInteger(value) && value >= 0 && value <= LARGEST;
const whole = when(isWhole);
const real = when((value) => Number.isFinite(value) && !(Number.isInteger(value) && Math.abs(value) > LARGEST));
const text = when((value) => typeof value === "string");
const flag = when((value) => typeof value === "boolean");
const fact = when((value) => value === null || ["string", "boolean"].includes(typeof value) || (Number.isInteger(value) ? isWhole(value) : Number.isFinite(value)));
const choice = (choices) => when((value) => choices.includes(value));
const option = (item) => (value, where) => value !== null && item(value, where);
const isTable = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

function list(item) {
  return (value, where) => {
    if (!Array.isArray(value)) throw misfit(where);
    for (const part of value) item(part, where);
  };
}

function row(...items) {
  return (value, where) => {
    if (!Array.isArray(value) || value.length !== items.length) throw misfit(where);
    items.forEach((item, i) => item(value[i], where));
  };
}

function table(item) {
  return (value, where) => {
    if (!isTable(value)) throw misfit(where);
    for (const part of Object.values(value)) item(part, where);
  };
}

/** An object with these fields and no others. later: those that may be missing; all of them if true. */
function record(fields, later = [], check = () => {}) {
  const required = later === true ? [] : Object.keys(fields).filter((name) => !later.includes(name));
  return (value, where) => {
    if (!isTable(value) || !Object.keys(value).every((name) => Object.hasOwn(fields, name))) throw misfit(where);
    const missing = required.filter((name) => !Object.hasOwn(value, name)).sort();
    if (missing.length > 0) throw misfit(`${where}.${missing[0]}`);
    for (const [name, part] of Object.entries(value)) fields[name](part, `${where}.${name}`);
    check(value);
  };
}

// --- settings ---------------------------------------------------------------------------------------------------

export const MAX_GAMMA = 32;
const LIMITS = { gamma: [0, MAX_GAMMA], confidence: [0, 1], seed: [0, LARGEST], max_new_tokens: [1, 1e12], min_new_tokens: [0, 1e12], temperature: [0, 5], top_k: [0, 1e9], top_p: [0, 1] };
const CHOICES = { policy: ["constant", "heuristic", "confidence", "goodput"], dtype: ["auto", "float32", "bfloat16", "float16"] };
const PLAIN = { max_new_tokens: 96, min_new_tokens: 0, gamma: 4, top_p: 1 };
const EXACT_WIDTH = 8;

function settingsFit(given) {
  const value = { ...PLAIN, ...given };
  const within = Object.entries(LIMITS).every(([name, [low, high]]) => value[name] === undefined || (value[name] >= low && value[name] <= high));
  const chosen = Object.entries(CHOICES).every(([name, choices]) => value[name] === undefined || choices.includes(value[name]));
  const fits = within && chosen && value.top_p > 0 && value.min_new_tokens <= value.max_new_tokens && !(value.exact && value.gamma >= EXACT_WIDTH) && !(value.stop ?? []).includes("");
  if (!fits) throw misfit("header.settings");
}

const SAMPLING = record({ temperature: real, top_k: whole, top_p: real }, true, settingsFit);
const SETTINGS = record(
  {
    prompt: text,
    pair: text,
    drafter: text,
    gamma: whole,
    policy: text,
    confidence: real,
    sampling: SAMPLING,
    seed: whole,
    max_new_tokens: whole,
    min_new_tokens: whole,
    stop: list(text),
    raw: flag,
    dtype: text,
    knobs: list(row(text, text)),
    rule: text,
    exact: flag,
  },
  true,
  settingsFit,
);

// A moment in UTC, as Python writes it.
const MOMENT = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d{1,6})?)?(Z|[+-]00:?00)$/;

function recordedFits({ recorded }) {
  if (recorded !== null && !(MOMENT.test(recorded) && Number.isFinite(Date.parse(recorded.replace(" ", "T"))))) throw misfit("header.recorded");
}

const FACTS = table(fact);

export const HEADER = record({ kind: choice(["trace", "live"]), recorded: option(text), models: FACTS, settings: SETTINGS, hardware: FACTS, versions: FACTS }, [], recordedFits);
export const STRINGS = table(row(text, text));

// --- events -----------------------------------------------------------------------------------------------------

const of = (kind, ...names) => Object.fromEntries(names.map((name) => [name, kind]));
const fate = choice(FATES);
const top = list(row(whole, real));

const ROUND = record({ fates: list(fate), last: option(fate), ...of(whole, "emitted", "steps", "skipped", "width"), ...of(real, "draft_s", "verify_s", "overhead_s") });
const METRICS = record({
  ...of(whole, "rounds", "tokens", "drafted", "accepted", "tested", "rejected", "discarded", "resampled", "bonus", "plain", "proposals", "skipped", "draft_steps", "passes_saved"),
  ...of(option(real), "alpha", "accepted_per_drafted", "accepted_per_emitted", "tau", "hit_rate", "looped", "tokens_per_s", "draft_step_s", "first_token_s"),
  ...of(list(whole), "lengths", "position_tested", "position_accepted"),
  ...of(real, "draft_s", "verify_s", "overhead_s", "decode_s", "prefill_s"),
});
const TEST = record({ ...of(real, "u", "p", "q"), accepted: flag, h: option(real) }, ["h"]);
const POSITION = record({ index: whole, p_top: top, q_top: option(top), residual_top: option(top), beta: option(real), p_entropy: real, q_entropy: option(real), margin: real });

/** Readers by the events' names on the wire. */
export const EVENTS = {
  run_started: record({ lane: text, drafter: text, gamma: whole, policy: text, greedy: flag, seed: whole, prompt: list(whole), max_new_tokens: whole, rule: text }, ["rule"]),
  prefilled: record({ lane: text, tokens: whole, target_s: real, draft_s: real }),
  drafted: record({ lane: text, round: whole, gamma: whole, tokens: list(whole), source: text, steps: whole, skipped: whole }),
  judged: record({ lane: text, round: whole, fates: list(fate), tests: list(TEST), emitted: list(whole), emitted_fates: list(fate), pieces: list(text) }),
  inspected: record({ lane: text, round: whole, positions: list(POSITION) }),
  round_finished: record({ lane: text, round: whole, counted: ROUND, clock_s: real, metrics: METRICS }),
  run_finished: record({ lane: text, finish_reason: text, detail: text, tokens: list(whole), text, tail: text, metrics: METRICS }),
};
