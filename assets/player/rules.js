// The verification rules as far as sentences depend on them: what a rule promises, what a test compares, where the
// token in place of a fallen guess comes from. The same ids and badges as in specdemo/core/rules; a test compares them.

const RULES = {
  rejection: { badge: "lossless", test: "ratio", drawn: "residual" },
  block: { badge: "lossless", test: "block", drawn: "surplus" },
  "greedy-match": { badge: "greedy", test: "match", drawn: "choice" },
  "sample-match": { badge: "lossless", test: "match", drawn: "sample" },
  "shared-noise": { badge: "lossless", test: "match", drawn: "noise", coupled: true },
  typical: { badge: "lossy", test: "typical", drawn: "law" },
  "resample-from-p": { badge: "biased", test: "ratio", drawn: "law" },
  "argmax-draft": { badge: "biased", test: "ratio", drawn: "residual" },
  "first-unverified": { badge: "biased", test: "ratio", drawn: "residual" },
  "bonus-skipped": { badge: "wasteful", test: "ratio", drawn: "residual" },
};
const STRANGE = { badge: null, test: "strange", drawn: "strange" };

export const TAUGHT = "rejection";
export const IDS = Object.keys(RULES);

/** The rule of a lane: {id, badge, test, drawn, coupled}. A trace that names none was judged by rejection sampling. */
export function ruleOf(lane) {
  return rule(lane?.started?.rule ?? TAUGHT);
}

/** A rule by its id; of one that is not known nothing is promised. */
export function rule(id) {
  return { id, coupled: false, ...(Object.hasOwn(RULES, id) ? RULES[id] : STRANGE) };
}

/** True if the text follows the target's law, at T = 0 (`greedy`) or above. */
export function keepsLaw({ badge }, greedy) {
  return badge === "lossless" || badge === "wasteful" || (badge === "greedy" && greedy);
}

/** A rule's name in the reader's language. */
export function ruleName({ id }, t) {
  return t.has(`ui.rule.${id}`) ? t(`ui.rule.${id}`) : id;
}

/** What the reader must know of a run under this rule before any number: the key of a sentence, or null. */
export function warning(found, greedy) {
  if (found.badge === "lossless" || (found.badge === "greedy" && greedy)) return null;
  if (found.badge === "wasteful") return "wasteful";
  if (found.badge === "greedy") return "greedy";
  return `${found.badge ?? "strange"}_${greedy ? "greedy" : "drawn"}`;
}

/** How a guess was judged: "ratio" (u against p/q), "block" (u against h), "match", "typical", "believed", "strange". */
export function testOf(found, slot) {
  return found.id === "first-unverified" && slot === 0 ? "believed" : found.test;
}

/** What u was compared with; null where no u decided. test: of the trace, {u, p, q, h}. */
export function bound(found, slot, test) {
  const kind = testOf(found, slot);
  if (kind === "ratio") return test.h ?? test.p / test.q;
  return kind === "block" ? (test.h ?? null) : null;
}
