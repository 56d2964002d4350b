// Numbers and token texts as they are written on the page. Knows no language.

const GLYPHS = { " ": "␣", "\n": "⏎", "\t": "⇥", "\r": "\\r" };

/** Whitespace made visible, for grids and lists: " cat\n" is "␣cat⏎". Invisible characters show their code. */
export function visible(text) {
  if (text === "") return "∅";
  return text
    .replace(/[ \n\t\r]/g, (c) => GLYPHS[c])
    .replace(/[\u0000-\u001f\u007f-\u00a0\u00ad\u200b-\u200f\u2028-\u202e\u2060\ufeff]/g, code);
}

/** A token as lists and grids name it; bytes and special tokens are names already. string: [text, kind]. */
export function label([text, kind]) {
  return kind === "text" ? visible(text) : text;
}

function code(character) {
  return `U+${character.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}`;
}

/** 0.0123 → "12 ms", 0.283 → "0.28 s", 12.34 → "12.3 s". */
export function seconds(value) {
  if (value === 0) return "0 s";
  if (value < 0.0995) return `${(value * 1000).toFixed(value < 0.00095 ? 2 : value < 0.0095 ? 1 : 0)} ms`;
  return `${value.toFixed(value < 9.95 ? 2 : 1)} s`;
}

/** A ratio between two speeds: two decimals where they matter. 0.87 → "0.87×", 2.71 → "2.7×", 12.3 → "12×". */
export function times(value) {
  return `${value.toFixed(value < 1.995 ? 2 : value < 9.95 ? 1 : 0)}×`;
}

/** A chance between 0 and 1. What is not quite 0 or 1 does not read as 0 or 1. */
export function chance(value) {
  if (value > 0 && value < 0.005) return "<0.01";
  if (value < 1 && value >= 0.995) return ">0.99";
  return value.toFixed(2);
}

/** A plain number with the given decimals, "–" where there is none. */
export function fixed(value, decimals) {
  return value === null || value === undefined ? "–" : value.toFixed(decimals);
}

/** 0.538 → "54 %". */
export function percent(value) {
  return value === null || value === undefined ? "–" : `${Math.round(value * 100)} %`;
}
