// The settings of a tab in the address, as `part.name=value`: a link brings them back. Knows names and plain values.

import { query } from "./address.js";

const WAIT_MS = 300;
const MOST_LETTERS = 2000;
const waiting = new Map();

/**
 * `plain` with what the address says otherwise. allowed: by name [low, high] of a number or a list of words; what is not
 * allowed is passed over, and a name without an entry is free text.
 */
export function kept(part, plain, allowed = {}, given = query()) {
  const found = Object.entries(plain).flatMap(([name, value]) => {
    const text = given[`${part}.${name}`];
    if (text === undefined) return [];
    const wanted = typeof value === "number" ? Number(text) : text;
    return fits(wanted, text, allowed[name]) ? [[name, wanted]] : [];
  });
  return { ...plain, ...Object.fromEntries(found) };
}

function fits(value, text, range) {
  if (typeof value === "number") return text.trim() !== "" && value >= range[0] && value <= range[1];
  return range ? range.includes(value) : value.length <= MOST_LETTERS;
}

/** The search part of an address in which `part` has these values; those that are plain are left out. */
export function searchWith(part, values, plain, search) {
  const given = new URLSearchParams(search);
  for (const [name, value] of Object.entries(values)) {
    const same = String(value) === String(plain[name]) || (typeof value === "string" && value.length > MOST_LETTERS);
    if (same) given.delete(`${part}.${name}`);
    else given.set(`${part}.${name}`, value);
  }
  return given.size ? `?${given}` : "";
}

/** Puts the values into the address bar once they rest: browsers refuse too many changes a second. */
export function keep(part, values, plain) {
  window.clearTimeout(waiting.get(part));
  const write = () => {
    const { pathname, search } = window.location;
    window.history.replaceState(null, "", `${pathname}${searchWith(part, values, plain, search)}`);
  };
  waiting.set(part, window.setTimeout(write, WAIT_MS));
}
