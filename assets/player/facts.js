// The facts of a run in a few words: lanes, hardware, models, settings. Knows the header, draws nothing.

import { label } from "./format.js";
import { TAUGHT, rule, ruleName, ruleOf } from "./rules.js";

/** A lane's name in the reader's language; lanes of one's own keep theirs. */
export function laneName(lane, t) {
  const key = `lane.${lane.name}`;
  return t.has(key) ? t(key) : lane.name;
}

/** A drafter's name in the reader's language; unknown ones keep their id. */
export function drafterName(id, t) {
  const key = `drafter.${id}`;
  return t.has(key) ? t(key) : id;
}

/** What proposes in a lane and how much: "prompt lookup, γ = 5"; plain decoding says so. */
export function laneDraft(lane, t) {
  if (lane.baseline) return t("lane.plain");
  const { drafter, gamma, policy } = lane.started;
  const draft = t(policy === "constant" ? "lane.draft" : "lane.draft_adaptive", { drafter: drafterName(drafter, t), gamma });
  return [draft, ...ruleFact(ruleOf(lane), t)].join(" · ");
}

/** The rule's name, where it is not the one that is taught. */
function ruleFact(found, t) {
  return found.id === TAUGHT ? [] : [ruleName(found, t)];
}

/** Where a proposal came from: a place in the text for a lookup, else the drafter. */
export function sourceName(round, lane, t) {
  const found = /^lookup at (\d+) \(n=(\d+)\)/.exec(round.drafted.source);
  if (found) return t("source.lookup", { at: Number(found[1]) + 1, n: found[2] });
  return drafterName(lane.started.drafter, t);
}

/** Why a lane ended: its end token by name, its stop string, the limit, or the reader. */
export function endOf({ finished }, timeline, t) {
  const token = /^end token (\d+)$/.exec(finished.detail);
  return t(`lanes.ended_${finished.finish_reason}`, {
    detail: quoted(token ? timeline.string(Number(token[1])) : [finished.detail, "text"]),
  });
}

/** Device, dtype, models, drafter and temperature of a run, as a list of short texts. */
export function runFacts(header, t) {
  const { hardware = {}, models = {}, settings = {} } = header;
  const temperature = settings.sampling?.temperature ?? 0;
  return [
    hardware.processor || hardware.device_name || hardware.device,
    models.dtype || (settings.dtype === "auto" ? null : settings.dtype),
    settings.exact ? t("facts.exact") : null,
    models.target || settings.pair,
    settings.drafter ? t("lane.draft", { drafter: drafterName(draftOf(settings), t), gamma: settings.gamma }) : null,
    ...(settings.drafter === "none" ? [] : ruleFact(rule(settings.rule ?? TAUGHT), t)),
    temperature > 0 ? `T = ${temperature}` : t("facts.greedy"),
  ].filter(Boolean);
}

// A table that the visitor trained is not the one that comes with the page.
function draftOf({ drafter, knobs = [] }) {
  return drafter === "ngram" && knobs.some(([name, value]) => name === "source" && value === "own") ? "ngram_own" : drafter;
}

/** A token in quotes with visible whitespace, as sentences name it. string: [text, kind]. */
export function quoted(string) {
  return `“${label(string)}”`;
}

/** A fate's word. At T = 0 nothing is drawn, so a resampled token is called corrected. */
export function fateWord(fate, greedy, t) {
  return t(fate === "resampled" && greedy ? "fate.corrected" : `fate.${fate}`);
}

/** The sign of each fate, beside its colour and line. */
export const MARKS = { accepted: "✓", rejected: "✗", discarded: "·", resampled: "↻", bonus: "★", plain: "–" };
