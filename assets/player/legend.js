// What the colours, lines and signs mean.

import { h } from "./dom.js";
import { MARKS, fateWord } from "./facts.js";
import { ruleOf } from "./rules.js";

/** One entry for each fate, drawn as the lanes draw it. */
export function legend({ t, greedy, race }) {
  const blocks = ruleOf(race?.speculative?.lane).test === "block";
  const entry = (fate) =>
    h(
      "li",
      {},
      h(
        "span",
        { class: `sd-token sd-${fate}${fate === "rejected" || fate === "discarded" ? " sd-ghost" : ""}` },
        t("legend.sample"),
      ),
      h(
        "span",
        {},
        h("b", { class: `sd-ink-${fate}` }, `${MARKS[fate]} ${fateWord(fate, greedy, t)}`),
        ` ${t(legendKey(fate, greedy, blocks))}`,
      ),
    );
  return h("ul", { class: "sd-legend", "aria-label": t("legend.label") }, Object.keys(MARKS).map(entry));
}

function legendKey(fate, greedy, blocks) {
  if (fate === "resampled" && greedy) return "legend.corrected";
  return blocks && fate === "rejected" ? "legend.rejected_block" : `legend.${fate}`;
}
