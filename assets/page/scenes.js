// What a tour shows over the lanes: a round in three moves, and a question with its answer. Knows models of the player.

import { h } from "../player/dom.js";
import { fixed, times } from "../player/format.js";
import { caption, grid, shortTitle } from "../player/grid.js";
import { revealAt, said } from "../player/walk.js";
import { predict } from "./telling.js";

const MOVES = ["guess", "pass", "keep"];
const STAGES = { guess: "draft", pass: "pass", keep: "commit" };
export const ANSWERS = ["faster", "same", "slower"];

/** The scene of that name. answer: what the visitor chose, or null. */
export function sceneOf(name, answer) {
  if (MOVES.includes(name)) return (model) => roundScene(model, name);
  return (model) => questionScene(model, answer);
}

function roundScene(model, move) {
  const { t, race } = model;
  const lane = race.speculative;
  const round = lane?.round;
  if (!round) return [];
  const stage = { step: STAGES[move], index: 0 };
  return [
    h("h3", { class: "sd-title" }, move === "keep" ? shortTitle(round, t) : t("scene.round")),
    h(
      "ol",
      { class: "sd-moves" },
      MOVES.map((one) => h("li", { "aria-current": one === move ? "step" : null }, t(`scene.${one}`))),
    ),
    h("div", { class: `sd-grid-box sd-scene-${move}` }, grid(model, lane, round, revealAt(round, stage))),
    h("p", { class: "sd-scene-said" }, move === "keep" ? caption(round, lane.lane, model) : said(lane.lane, round, stage, model)),
  ];
}

/** The draft length that the question asks about: three times that of the run on show. */
function asked(race) {
  return 3 * race.speculative.lane.started.gamma;
}

function questionScene(model, answer) {
  const { t, race } = model;
  const told = predict(race, asked(race));
  if (!told) return [];
  const { before, after } = told;
  return [
    h("h3", { class: "sd-question" }, t("scene.question", { before: before.gamma, after: after.gamma })),
    h("p", {}, t("scene.measured", { before: before.gamma, after: after.gamma, speedup: times(race.comparison.speedup) })),
    h("div", { class: "sd-answers", role: "group", "aria-label": t("scene.answers") }, ANSWERS.map((one) => choice(one, answer, told, t))),
    h("div", { class: "sd-reason", role: "status" }, answer ? reason(answer, told, t) : null),
  ];
}

function choice(one, answer, told, t) {
  const state = answer === null ? "" : one === told.answer ? " sd-answer-right" : one === answer ? " sd-answer-wrong" : "";
  return h(
    "button",
    { type: "button", class: `sd-answer${state}`, "data-answer": one, "aria-pressed": String(one === answer) },
    t(`scene.${one}`),
  );
}

function reason(answer, told, t) {
  const right = answer === told.answer;
  const numbers = {
    alpha: fixed(told.alpha, 2),
    c: fixed(told.c, 2),
    v: fixed(told.v, 2),
    width: told.width,
    share: Math.round(100 * told.share),
    ...amounts("before", told.before),
    ...amounts("after", told.after),
  };
  const verdict = right ? t("scene.right", { answer: t(`scene.${told.answer}`) }) : t(`scene.wrong_${answer}`);
  return [
    h("p", {}, h("b", { class: right ? "sd-ink-accepted" : "sd-ink-rejected" }, `${verdict} `), t(`scene.because_${told.answer}`, numbers)),
    h("p", { class: "sd-hint" }, t("scene.theory", numbers)),
  ];
}

function amounts(when, { gamma, tokens, cost, speed }) {
  return { [when]: gamma, [`${when}_tokens`]: fixed(tokens, 2), [`${when}_cost`]: fixed(cost, 2), [`${when}_speed`]: times(speed) };
}
