// Questions about the run on show that a presenter need not write. Knows runs and the numbers that answer.

import { numbers, readRun } from "../page/lessons-figures.js";

const CLOSE = 0.05;
const SPEEDS = [1, 1.5, 2, 3];
const SHARES = [0.25, 0.5, 0.75];

const compared = (ratio) => (Math.abs(ratio - 1) <= CLOSE ? 1 : ratio > 1 ? 0 : 2);
const between = (value, edges) => edges.filter((edge) => value >= edge).length;

/** Kind → {options: how many, answer(numbers): the number of the right one, or null}. Words: `workshop.ask.KIND…`. */
const KINDS = {
  faster: { options: 3, answer: ({ speedup }) => (speedup ? compared(speedup) : null) },
  speedup: { options: SPEEDS.length + 1, answer: ({ speedup }) => (speedup ? between(speedup, SPEEDS) : null) },
  identical: { options: 2, fits: ({ temperature, of }) => temperature === 0 && of, answer: ({ same, of }) => (same === of ? 0 : 1) },
  alpha: { options: SHARES.length + 1, fits: ({ alpha }) => alpha !== null, answer: ({ alpha }) => between(alpha, SHARES) },
  longer: { options: 3, fits: ({ prediction }) => prediction, answer: ({ prediction }) => ["faster", "same", "slower"].indexOf(prediction) },
};

/** The kinds that fit a run. text: its trace. */
export function kinds(text) {
  const known = numbers(readRun(text));
  return Object.keys(KINDS).filter((kind) => (KINDS[kind].fits ?? (() => true))(known));
}

/** A question as it is sent. say: the words of a language, {language: say}. */
export function ready(kind, text, languages) {
  const known = numbers(readRun(text));
  const params = { gamma: known.gamma, longer: 3 * known.gamma };
  const each = (key) => Object.fromEntries(Object.entries(languages).map(([lang, say]) => [lang, say(key, params)]));
  return { kind, text: each(`ask.${kind}`), options: Array.from({ length: KINDS[kind].options }, (_, i) => each(`ask.${kind}.${i}`)) };
}

/** The number of the right option, null where there is none. */
export function answer(kind, text) {
  return KINDS[kind] && text ? KINDS[kind].answer(numbers(readRun(text))) : null;
}

/** A question that the presenter wrote: the first text, and an answer in each line of the second. */
export function own(text, lines, language) {
  const options = lines.split("\n").map((line) => line.trim()).filter(Boolean);
  return { kind: "own", text: { [language]: text.trim() }, options: options.map((option) => ({ [language]: option })) };
}
