// The tokens of a lane as pieces to show: whole glyphs, bytes of unfinished ones, guesses that fell. No DOM.

/** Appends the emitted tokens of a round to `lane.tokens`; a glyph made of several tokens belongs to the last of them. */
export function addTokens(lane, round, timeline) {
  const { judged } = round;
  judged.emitted.forEach((id, i) => {
    const fate = judged.emitted_fates[i];
    const slot = fate === "accepted" ? i : LAST;
    const token = {
      id,
      fate,
      piece: judged.pieces[i],
      slot,
      round: round.number,
      index: lane.tokens.length,
      glyph: null,
      mixed: false,
    };
    lane.tokens.push(token);
    if (token.piece !== "") finishGlyph(lane, token);
    else if (timeline.string(id)[1] !== "special") lane.pending.push(token);
  });
}

/** The slot of the token behind the guesses (corrected, bonus or plain); guesses have the slots 0, 1, 2, … */
export const LAST = "last";

function finishGlyph(lane, token) {
  for (const part of lane.pending) {
    part.glyph = token.index;
    token.mixed = token.mixed || part.fate !== token.fate;
  }
  lane.pending = [];
}

/**
 * What a lane shows of a round once `count` tokens are there: items {kind, text, fate, slot, mixed} in reading order.
 * kind: "token"; "chip" (bytes of a glyph not whole yet, or a special token: no text of the answer);
 * "ghost" (a guess that was rejected or discarded, only if `ghosts`).
 */
export function roundItems(lane, round, count, ghosts, timeline) {
  const items = [];
  let guesses = ghosts ? fallen(round, timeline) : [];
  for (const token of lane.tokens.slice(round.first, round.tokens)) {
    if (token.slot === LAST) {
      items.push(...guesses);
      guesses = [];
    }
    const item = tokenItem(token, count, timeline);
    if (item) items.push(item);
  }
  return [...items, ...guesses];
}

function tokenItem(token, count, timeline) {
  const { fate, slot, mixed } = token;
  if (token.piece !== "") return { kind: "token", text: token.piece, fate, slot, mixed };
  if (token.glyph !== null && token.glyph < count) return null;
  return { kind: "chip", text: timeline.string(token.id)[0], fate, slot, mixed: false };
}

function fallen(round, timeline) {
  const { drafted, judged } = round;
  return judged.fates
    .map((fate, slot) => ({ kind: "ghost", text: timeline.string(drafted.tokens[slot])[0], fate, slot, mixed: false }))
    .filter((item) => item.fate !== "accepted");
}

/** The last token of `lane` whose glyph is still unfinished once `count` tokens are there changes the look of its round. */
export function unfinished(lane, round, count) {
  return lane.tokens
    .slice(round.first, round.tokens)
    .some((token) => token.piece === "" && !(token.glyph !== null && token.glyph < count));
}

/** Everything there is to know about one slot of a round: {id, fate, slot, string: [text, kind]}. Null where it does not exist. */
export function slotOf(round, slot, timeline) {
  const { drafted, judged } = round;
  if (slot === LAST) {
    const i = judged.emitted.length - 1;
    if (i < 0 || judged.emitted_fates[i] === "accepted") return null;
    return described(judged.emitted[i], judged.emitted_fates[i], slot, timeline);
  }
  if (slot >= judged.fates.length) return null;
  return described(drafted.tokens[slot], judged.fates[slot], slot, timeline);
}

/** The slots of a round in reading order. */
export function slots(round, timeline) {
  return [...round.judged.fates.keys(), LAST].map((slot) => slotOf(round, slot, timeline)).filter(Boolean);
}

/** The selection {lane, round, slot} one token before (-1) or after (1) the given one, across rounds; null at the ends. */
export function neighbourOf(state, selection, by, timeline) {
  const lane = state.lanes.find((known) => known.lane.name === selection.lane);
  if (!lane) return null;
  let { round } = selection;
  let here = slots(lane.lane.rounds[round - 1], timeline);
  let i = here.findIndex(({ slot }) => slot === selection.slot) + by;
  while (i < 0 || i >= here.length) {
    round += by;
    if (round < 1 || round > lane.rounds) return null;
    here = slots(lane.lane.rounds[round - 1], timeline);
    i = by > 0 ? 0 : here.length - 1;
  }
  return { lane: selection.lane, round, slot: here[i].slot };
}

function described(id, fate, slot, timeline) {
  return { id, fate, slot, string: timeline.string(id) };
}
