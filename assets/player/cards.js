// The numbers of a run as cards; each opens its definition, formula and what other engines call it.

import { h } from "./dom.js";
import { fixed, percent, seconds, times } from "./format.js";
import { icon } from "./icons.js";

/** The cards by id: (metrics of the chosen lane, race, t) → what stands on the card. The first four are always shown. */
export const CARDS = {
  alpha: (m, race, t) => (m.tested ? t("card.alpha.value", { accepted: m.accepted, tested: m.tested }) : "–"),
  tau: (m) => fixed(m.tau, 2),
  c: (m, race) => fixed(race.comparison?.c, 2),
  v: (m, race) => fixed(race.comparison?.v, 2),
  speedup: (m, race) => (race.comparison?.speedup ? times(race.comparison.speedup) : "–"),
  drafted: (m) => percent(m.accepted_per_drafted),
  emitted: (m) => percent(m.accepted_per_emitted),
  hits: (m, race, t) => t("card.hits.value", { proposals: m.proposals, rounds: m.rounds }),
  saved: (m) => String(m.passes_saved),
  rate: (m) => (m.tokens_per_s === null ? "–" : m.tokens_per_s.toFixed(m.tokens_per_s < 9.95 ? 1 : 0)),
  first: (m) => (m.first_token_s === null ? "–" : seconds(m.first_token_s)),
  total: (m) => seconds(m.prefill_s + m.decode_s),
  loop: (m) => percent(m.looped),
  sum: (m, race) => (race.comparison?.adds_up_to ? times(race.comparison.adds_up_to) : "–"),
};

const MAIN = 4;
const ENGINES = ["vllm", "sglang", "llamacpp", "transformers"];

/** The panel of cards with the opened one's explanation below. */
export function cards(model) {
  const { t, ui } = model;
  const ids = Object.keys(CARDS).slice(0, ui.more ? undefined : MAIN);
  const open = ids.includes(ui.card) ? ui.card : null;
  return h(
    "section",
    { class: "sd-panel sd-cards-panel", "aria-label": t("cards.label") },
    h(
      "div",
      { class: "sd-cards" },
      ids.map((id) => card(model, id, open === id)),
    ),
    open ? definition(model, open) : null,
    h(
      "button",
      { type: "button", class: "sd-more", "data-do": "more", "aria-expanded": String(ui.more) },
      t(ui.more ? "cards.less" : "cards.more"),
    ),
  );
}

/** What a card shows at this state, "–" before there is anything. */
export function cardValue({ race, t }, id) {
  const metrics = race.speculative?.metrics;
  return metrics ? CARDS[id](metrics, race, t) : "–";
}

/** A card's caption; v's needs the width of the pass. */
export function cardCaption({ race, t }, id) {
  return t(`card.${id}.caption`, { width: race.comparison?.width ?? "n" });
}

function card(model, id, open) {
  return h(
    "button",
    { type: "button", class: "sd-card", "data-do": "card", "data-card": id, "aria-expanded": String(open) },
    h("b", { class: "sd-card-value" }, cardValue(model, id)),
    h("span", { class: "sd-card-caption" }, cardCaption(model, id)),
  );
}

function definition({ t }, id) {
  const known = ENGINES.filter((engine) => t(`card.${id}.${engine}`) !== "");
  return h(
    "div",
    { class: "sd-definition" },
    h(
      "div",
      { class: "sd-definition-head" },
      h("h4", {}, t(`card.${id}.name`)),
      h(
        "button",
        {
          type: "button",
          class: "sd-button sd-close",
          "data-do": "card",
          "data-card": id,
          "aria-label": t("cards.close"),
        },
        icon("close"),
      ),
    ),
    h("p", {}, t(`card.${id}.definition`)),
    h("p", { class: "sd-formula" }, t(`card.${id}.formula`)),
    known.length
      ? h(
          "dl",
          { class: "sd-elsewhere" },
          known.map((engine) => [h("dt", {}, t(`engine.${engine}`)), h("dd", {}, t(`card.${id}.${engine}`))]),
        )
      : null,
  );
}
