// The words of a lesson: a small part of Markdown to data, and data to descriptions. Knows no lesson and no page.
//
// A text is "# title" and sections "## name". A section holds paragraphs, or items "- id: words" that can be asked for by id.

import { h } from "../player/dom.js";

const ITEM = /^- ([\w-]+): (.+)$/;
const NAME = /\{([\w.-]+)\}/g;
const MARKED = /(\*\*[^*]+\*\*|`[^`]+`)/;

/** {title, sections: {name: {paragraphs: [words], items: Map of id → words}}}. */
export function parse(markdown) {
  const [head, ...rest] = markdown.trim().split(/^## /m);
  const sections = rest.map((part) => {
    const [name, ...lines] = part.split("\n");
    return [name.trim(), section(lines.join("\n"))];
  });
  return { title: head.replace(/^# /, "").trim(), sections: Object.fromEntries(sections) };
}

function section(body) {
  const blocks = body.trim().split(/\n{2,}/).filter(Boolean);
  const items = new Map();
  const paragraphs = [];
  for (const block of blocks) {
    const lines = block.split("\n");
    const found = lines.map((line) => ITEM.exec(line));
    if (found.every(Boolean)) for (const [, id, words] of found) items.set(id, words);
    else paragraphs.push(lines.join(" "));
  }
  return { paragraphs, items };
}

/** The names of all placeholders in some words. */
export function names(words) {
  return [...words.matchAll(NAME)].map(([, name]) => name);
}

/** The words with placeholders filled by `figure(name)`; "…" for what is not known yet. */
export function fill(words, figure) {
  return words.replace(NAME, (all, name) => figure(name) ?? "…");
}

/** Words with **strong** and `code` as descriptions. */
export function inline(words) {
  return words
    .split(MARKED)
    .filter(Boolean)
    .map((part) => {
      if (part.startsWith("**")) return h("b", {}, part.slice(2, -2));
      if (part.startsWith("`")) return h("code", {}, part.slice(1, -1));
      return part;
    });
}
