// What papers report of their own measurements, in the words of their abstracts. Nothing of it was measured here.

import { h } from "../player/dom.js";

export const PUBLISHED = [
  { arxiv: "2211.17192", authors: "Leviathan et al. 2023", method: "speculative decoding", says: "T5-XXL … a 2X-3X acceleration compared to the standard T5X implementation, with identical outputs" },
  { arxiv: "2302.01318", authors: "Chen et al. 2023", method: "speculative sampling", says: "Chinchilla, a 70 billion parameter language model, achieving a 2-2.5x decoding speedup in a distributed setup" },
  { arxiv: "2401.10774", authors: "Cai et al. 2024", method: "Medusa", says: "Medusa-1 can achieve over 2.2x speedup …, while Medusa-2 further improves the speedup to 2.3-3.6x" },
  { arxiv: "2401.15077", authors: "Li et al. 2024", method: "EAGLE", says: "For LLaMA2-Chat 70B, EAGLE achieved a latency speedup ratio of 2.7x-3.5x" },
  { arxiv: "2406.16858", authors: "Li et al. 2024", method: "EAGLE-2", says: "speedup ratios 3.05x-4.26x" },
  { arxiv: "2503.01840", authors: "Li et al. 2025", method: "EAGLE-3", says: "a speedup ratio up to 6.5x, with about 1.4x improvement over EAGLE-2" },
];

/** The block. say(key): a text. */
export function published(say) {
  const row = ({ arxiv, authors, method, says }) =>
    h(
      "tr",
      {},
      h("th", { scope: "row" }, method),
      h("td", {}, h("q", {}, says)),
      h("td", {}, authors, ", ", h("a", { href: `https://arxiv.org/abs/${arxiv}`, target: "_blank", rel: "noopener noreferrer" }, `arXiv ${arxiv}`)),
    );
  return h("table", { class: "sp-table sp-published" }, h("thead", {}, h("tr", {}, ["method", "says", "source"].map((name) => h("th", { scope: "col" }, say(`published.${name}`))))), h("tbody", { lang: "en" }, PUBLISHED.map(row)));
}
