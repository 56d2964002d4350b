// The address of the page and the theme of the page, as far as the browser alone knows them.

import { closest } from "../player/labels.js";

/** What the address asks for, as a plain object. */
export function query() {
  return Object.fromEntries(new URLSearchParams(window.location.search));
}

/** The reader's language: of the address, else the first of the browser's that we have, else English. */
export function language(texts) {
  const asked = [query().lang, ...(window.navigator.languages || [window.navigator.language])];
  const known = (tag) => Object.keys(texts).includes(String(tag).toLowerCase().split(/[-_]/)[0]);
  return closest(asked.find((tag) => tag && known(tag)), texts);
}

/** The address that brings back `values`, those that differ from the defaults; without the frame around the page. */
export function address(names, defaults, values) {
  const given = new URLSearchParams();
  names.forEach((name, i) => {
    const [value, plain] = [values[i], defaults[name]];
    if (name === "knobs") {
      for (const [knob, setting] of Object.entries(value ? JSON.parse(value) : {})) given.set(`knob.${knob}`, setting);
    } else if (value !== null && value !== undefined && String(value) !== String(plain)) given.set(name, value);
  });
  const now = query();
  for (const name of ["view", "tab", "trace", "lesson"]) if (now[name] && !given.has(name)) given.set(name, now[name]);
  // The settings of other tabs: see keep.js.
  for (const name of Object.keys(now)) if (/^(theory|prove|train)\./.test(name)) given.set(name, now[name]);
  const { origin, pathname } = window.location;
  return `${origin}${pathname}${given.size ? `?${given}` : ""}`;
}

/** Text on the clipboard; inside a frame that may not use it, by the older way. */
export async function copyText(text) {
  try {
    await window.navigator.clipboard.writeText(text);
  } catch {
    const field = document.body.appendChild(document.createElement("textarea"));
    field.value = text;
    field.select();
    document.execCommand("copy");
    field.remove();
  }
}

/** Marks a button for a moment as done. */
export function said(button) {
  button.classList.add("sp-done");
  window.setTimeout(() => button.classList.remove("sp-done"), 1600);
}

/** The language of the page, which the head of the page sets. */
export function readLanguage() {
  return document.documentElement.lang;
}

/** Calls back whenever the language of the page changes. */
export function watchLanguage(react) {
  new MutationObserver(() => react(readLanguage())).observe(document.documentElement, { attributes: true, attributeFilter: ["lang"] });
}

/** "light" or "dark". */
export function readTheme() {
  return document.body.classList.contains("dark") ? "dark" : "light";
}

/** Light or dark, for the components and for the player. */
export function setTheme(theme) {
  document.body.classList.toggle("dark", theme === "dark");
}

/** Calls back now and whenever the theme changes. */
export function watchTheme(react) {
  let theme = null;
  const look = () => {
    if (readTheme() === theme) return;
    theme = readTheme();
    react(theme);
  };
  new MutationObserver(look).observe(document.body, { attributes: true, attributeFilter: ["class"] });
  look();
}
