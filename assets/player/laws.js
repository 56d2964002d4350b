// The laws p, q and the residual at one position, as rows of numbers. No DOM.
//
// A trace holds the eight most likely ids of each law. A chance that is not listed is at most the smallest listed one,
// and zero where fewer than eight are listed: such a value is a bound, marked as one, never a guess.

const TOP = 8;

/**
 * Rows {id, p, q, residual, overlap, tested, taken}, most likely first, and the mass that the rows leave over.
 * p and q are {value, bound: true if only a limit is known}; q and residual are null where nothing was drafted.
 * row: a `Position` of the trace. test: {p, q} of the tested token. tested, taken: ids to be among the rows.
 */
export function lawRows(row, test, tested, taken) {
  const known = {
    p: new Map(row.p_top),
    q: row.q_top && new Map(row.q_top),
    residual: row.residual_top && new Map(row.residual_top),
  };
  if (test && tested !== null) {
    known.p.set(tested, test.p);
    known.q?.set(tested, test.q);
  }
  const ids = chosen(known, tested, taken);
  const rows = ids.map((id) => describe(id, known, row, { tested, taken }));
  return { rows, rest: restOf(rows, row) };
}

function chosen(known, tested, taken) {
  const weight = (id) => Math.max(known.p.get(id) || 0, known.q?.get(id) || 0);
  const all = [...new Set([...known.p.keys(), ...(known.q?.keys() || [])])].sort(
    (a, b) => weight(b) - weight(a) || a - b,
  );
  const wanted = [tested, taken].filter((id) => id !== null && id !== undefined);
  const first = all.filter((id) => !wanted.includes(id)).slice(0, TOP - wanted.length);
  return [...new Set([...wanted, ...first])].sort((a, b) => weight(b) - weight(a) || a - b);
}

function describe(id, known, row, { tested, taken }) {
  const p = value(known.p, id, row.p_top);
  const q = known.q ? qOf(id, known, row, p) : null;
  const overlap = q ? Math.min(p.value, q.bound ? 0 : q.value) : null;
  return {
    id,
    p,
    q,
    overlap,
    residual: known.residual ? residualOf(id, known.residual, row.residual_top) : null,
    tested: id === tested,
    taken: id === taken,
  };
}

function value(map, id, top) {
  if (map.has(id)) return { value: map.get(id), bound: false };
  const limit = top.length < TOP ? 0 : top[top.length - 1][1];
  return { value: limit, bound: limit > 0 };
}

// Where the residual is listed it gives q back: residual · (1 − β) = p − q.
function qOf(id, known, row, p) {
  const plain = value(known.q, id, row.q_top);
  const rest = known.residual?.get(id);
  if (!plain.bound || p.bound || !rest) return plain;
  return { value: Math.max(0, p.value - rest * (1 - row.beta)), bound: false };
}

function residualOf(id, map, top) {
  return value(map, id, top);
}

// What lies outside the rows: at least zero, as rounding may bring the sum over one.
function restOf(rows, row) {
  const left = (name) => Math.max(0, 1 - rows.reduce((sum, r) => sum + (r[name].bound ? 0 : r[name].value), 0));
  return { p: left("p"), q: row.q_top ? left("q") : null };
}
