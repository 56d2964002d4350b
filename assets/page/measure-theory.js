// Theory beside a γ sweep: which earlier run α and c are taken from, and the curves that they promise.

import { h } from "../player/dom.js";
import { fixed, times } from "../player/format.js";
import { flat } from "../player/theory.js";
import { measuredV, predicted, real } from "./measure-numbers.js";

/**
 * Earlier runs to predict a sweep from: the reader's own measurements, newest first, then the recorded runs; those with
 * the sweep's draft come first. own: states. recorded: of the server. Each has a key, α, c and a text.
 */
export function candidates(state, own, recorded, { drafter, say }) {
  const mine = own
    .filter(({ run, pair }) => run !== state.run && pair === state.pair)
    .reverse()
    .flatMap((one) => real(one.cells).map((cell) => ownRun(one, cell)))
    .filter(Boolean);
  const all = [...mine, ...together(recorded), ...recorded.map(recordedRun)];
  const { drafter: wanted } = draftOf(state);
  const near = (one) => (one.drafter === wanted ? 0 : 1);
  return all.map((one, i) => ({ ...one, text: text(one) })).sort((a, b) => near(a) - near(b));

  function text(one) {
    const facts = { drafter: drafter(one.drafter), gamma: one.gamma, temperature: one.temperature, alpha: fixed(one.alpha, 2), c: fixed(one.c, 3) };
    return say(one.own ? "earlier.own" : one.runs ? "earlier.together" : "earlier.recorded", { ...facts, runs: one.runs });
  }
}

function ownRun({ run, lanes }, { lane, temperature, summary }) {
  const { drafter, gamma } = lanes[lane];
  if (summary.alpha === null || summary.c === null) return null;
  return { key: `${run} ${lane} ${temperature}`, own: true, drafter, gamma, temperature, alpha: summary.alpha, c: summary.c };
}

function recordedRun(run, i) {
  return { ...run, key: `recorded ${i}`, own: false };
}

// All recorded runs of a draft as one, where there are several: α is of all their tests, c the middle one.
function together(recorded) {
  const drafts = [...new Set(recorded.map(({ drafter }) => drafter))];
  return drafts.flatMap((drafter) => {
    const runs = recorded.filter((run) => run.drafter === drafter);
    if (runs.length < 2) return [];
    const sum = (name) => runs.reduce((total, run) => total + run[name], 0);
    const c = runs.map((run) => run.c).sort((a, b) => a - b)[Math.floor((runs.length - 1) / 2)];
    return [{ key: `together ${drafter}`, own: false, drafter, runs: runs.length, gamma: null, temperature: null, alpha: sum("accepted") / sum("tested"), c, processor: runs[0].processor, recorded: runs[0].recorded }];
  });
}

/** The one to begin with: the reader's own of the same draft and temperature, else the first of the same draft; or null. */
export function suited(list, state) {
  const { drafter, temperature } = draftOf(state);
  const same = list.filter((one) => one.drafter === drafter);
  return same.find((one) => one.own && one.temperature === temperature) ?? same[0] ?? null;
}

function draftOf({ lanes, costs }) {
  return { drafter: Object.values(lanes ?? {})[0]?.drafter, temperature: costs?.[0]?.temperature ?? 0 };
}

/** The curves of theory for a sweep: with flat v, and with the v measured on this machine apart from any run. */
export function predictions(state, earlier) {
  const high = Math.max(8, ...real(state.cells).map(({ summary }) => summary.gamma)) + 1;
  const passes = state.costs.find(({ drafter }) => drafter === "none")?.costs.passes;
  const forms = { flat, ...(passes ? { slope: measuredV(passes) } : {}) };
  const found = Object.entries(forms).map(([kind, v]) => [kind, predicted(earlier, v, high)]);
  const curves = found.map(([kind, { values, best, top, even }]) => ({
    kind,
    points: values.map((value, gamma) => [gamma, value]),
    best: { at: [best, top], text: kind === "flat" ? times(top) : "" },
    cross: even > 0 && even < high ? [even, values[even]] : null,
  }));
  return { curves, found: Object.fromEntries(found), high };
}

/** What theory said, as a list: best γ and break-even of each curve. */
export function told(state, earlier, say) {
  const { found, high } = predictions(state, earlier);
  return h(
    "ul",
    { class: "sp-theory-said" },
    Object.entries(found).map(([kind, { best, top, even }]) => h("li", {}, say(`theory.${kind}`, { best, top: times(top), even: even === high ? say("or_more", { even }) : even }))),
  );
}
