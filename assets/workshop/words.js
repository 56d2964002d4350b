// The words of a workshop's pages, in the reader's language. Knows tables of texts by key.

const PREFIX = "workshop.";

/** A function (key, params) → text; `language()` is asked at every call. */
export function words(texts, language) {
  const find = (key) => texts[language()]?.[key] ?? texts.en[key] ?? key;
  const fill = (text, params) => text.replace(/\{(\w+)\}/g, (all, name) => params[name] ?? all);
  const say = (key, params = {}) => fill(find(PREFIX + key), params);
  say.drafter = (id) => find(`player.drafter.${id}`);
  /** A text that was sent in one or more languages. */
  say.of = (table) => (table ? (table[language()] ?? table.en ?? Object.values(table)[0] ?? "") : "");
  return say;
}
