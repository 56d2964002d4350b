// Texts by key and language. Knows the tables it was given and placeholders, nothing of the page.

const PREFIX = "player.";

/** A translator `t(key, params)` over `strings = {en: {...}, zh: {...}}`, where `t.language` may be changed at any time. */
export function translator(strings, language) {
  const t = (key, params) => parts(key, params).join("");

  // A key that begins with "ui." names a text that the page and the player share.
  function template(key) {
    const name = key.startsWith("ui.") ? key : PREFIX + key;
    return strings[t.language]?.[name] ?? strings.en?.[name] ?? key;
  }

  function parts(key, params = {}) {
    return template(key)
      .split(/\{(\w+)\}/)
      .map((part, i) => (i % 2 ? (params[part] ?? `{${part}}`) : part))
      .filter((part) => part !== "");
  }

  t.language = closest(language, strings);
  /** The text in pieces, so that a placeholder may be an element. */
  t.parts = parts;
  /** True if there is a text for the key. */
  t.has = (key) => template(key) !== key;
  t.setLanguage = (wanted) => {
    t.language = closest(wanted, strings);
  };
  return t;
}

/** The table that fits a language tag best: `zh-Hans-CN` and `zh-HK` take `zh`, anything unknown takes `en`. */
export function closest(tag, strings) {
  const wanted = String(tag || "en").toLowerCase();
  const known = Object.keys(strings);
  return known.find((name) => name === wanted) || known.find((name) => name === wanted.split(/[-_]/)[0]) || "en";
}
