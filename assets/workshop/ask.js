// A question with its answers: to vote on, to watch the votes come in, and with the right one marked. Knows what is drawn.

import { h } from "../player/dom.js";

/**
 * asked: {id, open, answer, votes, tally} of the state. words: {text, options} or null until they are there. choice: the
 * attendee's own, or null. tally: the presenter's, or null. votes: false where nobody may vote here.
 */
export function question({ asked, words, choice, tally, say, votes }) {
  if (!asked || !words) return null;
  const counts = asked.tally ?? tally;
  const all = counts ? counts.reduce((sum, count) => sum + count, 0) : 0;
  const shown = counts && (!asked.open || !votes);
  return h(
    "section",
    { class: "ws-question", "aria-label": say("question") },
    say.of(words.text).split("\n").filter(Boolean).map((line) => h("p", { class: "ws-asked" }, line)),
    h(
      "div",
      { class: "ws-options", role: "group", "aria-label": say("answers") },
      words.options.map((option, i) => one({ label: say.of(option), i, asked, choice, share: shown ? (all ? counts[i] / all : 0) : null, count: shown ? counts[i] : null, votes })),
    ),
    h("p", { class: "ws-hint", role: "status" }, line(asked, choice, say, votes)),
  );
}

function one({ label, i, asked, choice, share, count, votes }) {
  const right = asked.answer === i;
  const wrong = asked.answer !== null && choice === i && !right;
  const state = `${right ? " ws-right" : ""}${wrong ? " ws-wrong" : ""}${choice === i ? " ws-mine" : ""}`;
  const bar = share === null ? null : h("i", { class: "ws-bar", style: `width:${(100 * share).toFixed(1)}%` });
  const body = [bar, h("span", { class: "ws-label" }, label), count === null ? null : h("b", { class: "ws-count" }, String(count))];
  if (!votes || !asked.open) return h("div", { class: `ws-option${state}` }, body);
  return h("button", { type: "button", class: `ws-option${state}`, "data-vote": i, "aria-pressed": String(choice === i) }, body);
}

function line(asked, choice, say, votes) {
  const count = say(asked.votes === 1 ? "vote" : "votes", { count: asked.votes });
  if (!votes) return count;
  if (!asked.open) return choice === null ? `${say("closed")} ${count}` : count;
  return choice === null ? `${say("choose")} ${count}` : `${say("chosen")} ${count}`;
}
