// Texts of one part of the page, with their placeholders filled.

import { closest } from "../player/labels.js";

/** `tell(key, params)` over the texts `ui.page.<part>.<key>`; `tell.language` may be changed at any time. */
export function teller(texts, part, language) {
  const tell = (key, params = {}) => {
    const text = texts[tell.language][`ui.page.${part}.${key}`] ?? `${part}.${key}`;
    return text.replace(/\{(\w+)\}/g, (all, name) => params[name] ?? all);
  };
  tell.language = closest(language, texts);
  return tell;
}
