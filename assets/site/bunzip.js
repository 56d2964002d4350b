// Unpacks bzip2, which browsers cannot: a sixth smaller than the gzip that they can. One stream, as Python's bz2 writes it.
// A classic script: it stands in the page before everything else, which is packed so.

const BLOCK = 0x314159265359;
const MAX_BITS = 20;

/** Bits from the highest on. */
function bitsOf(bytes) {
  let [at, left, byte] = [0, 0, 0];
  const bit = () => {
    if (left === 0) {
      byte = bytes[at++];
      left = 8;
    }
    return (byte >> --left) & 1;
  };
  const number = (bits) => {
    let value = 0;
    for (let i = 0; i < bits; i++) value = 2 * value + bit();
    return value;
  };
  return { bit, number };
}

/** The bytes that were packed. */
function bunzip(bytes) {
  const bits = bitsOf(bytes);
  const parts = [];
  const size = 100_000 * (bits.number(32) - 0x425a6830);
  while (bits.number(48) === BLOCK) {
    bits.number(33);
    const start = bits.number(24);
    parts.push(unrepeated(unsorted(symbols(bits, size), start)));
  }
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  parts.reduce((to, part) => (whole.set(part, to), to + part.length), 0);
  return whole;
}

/** A block after Huffman, run lengths and move-to-front: the last column of the sorted rotations. */
function symbols(bits, size) {
  const groups = [...Array(16)].map(() => bits.bit());
  const front = groups.flatMap((used, high) => (used ? [...Array(16).keys()].filter(() => bits.bit()).map((low) => 16 * high + low) : []));
  const end = front.length + 1;
  const tables = bits.number(3);
  const order = [...Array(tables).keys()];
  const chosen = [...Array(bits.number(15))].map(() => moved(order, unary(bits)));
  const codes = [...Array(tables)].map(() => code(bits, end + 1));
  const column = new Uint8Array(size);
  let [length, run, weight] = [0, 0, 1];
  for (let i = 0; ; i++) {
    const symbol = decoded(bits, codes[chosen[Math.floor(i / 50)]]);
    if (symbol <= 1) {
      run += weight << symbol;
      weight *= 2;
      continue;
    }
    column.fill(front[0], length, length + run);
    length += run;
    [run, weight] = [0, 1];
    if (symbol === end) return column.subarray(0, length);
    column[length++] = moved(front, symbol - 1);
  }
}

function unary(bits) {
  let ones = 0;
  while (bits.bit()) ones++;
  return ones;
}

/** The entry at that place, which moves to the front. */
function moved(list, place) {
  const entry = list[place];
  for (let i = place; i > 0; i--) list[i] = list[i - 1];
  list[0] = entry;
  return entry;
}

/** A canonical code: of every length the first number beyond it, what to subtract, and the symbols in their order. */
function code(bits, count) {
  let length = bits.number(5);
  const lengths = [...Array(count)].map(() => {
    while (bits.bit()) length += bits.bit() ? -1 : 1;
    return length;
  });
  const [limits, bases, sorted] = [[0], [0], []];
  for (let size = 1, next = 0; size <= MAX_BITS; size++) {
    bases[size] = next - sorted.length;
    for (let symbol = 0; symbol < count; symbol++) if (lengths[symbol] === size) sorted.push(symbol);
    limits[size] = bases[size] + sorted.length;
    next = 2 * limits[size];
  }
  return { limits, bases, sorted };
}

function decoded(bits, { limits, bases, sorted }) {
  let value = 0;
  for (let size = 1; size <= MAX_BITS; size++) {
    value = 2 * value + bits.bit();
    if (value < limits[size]) return sorted[value - bases[size]];
  }
  throw new Error("The page is damaged.");
}

/** The text whose rotations, sorted, end in `column`; the text itself is number `start` of them. */
function unsorted(column, start) {
  const before = new Uint32Array(257);
  for (const byte of column) before[byte + 1]++;
  for (let i = 1; i < 257; i++) before[i] += before[i - 1];
  const next = new Uint32Array(column.length);
  for (let i = 0; i < column.length; i++) next[before[column[i]]++] = i;
  const text = new Uint8Array(column.length);
  for (let i = 0, at = next[start]; i < text.length; i++, at = next[at]) text[i] = column[at];
  return text;
}

/** Behind four equal bytes stands how many more of them there were. */
function unrepeated(bytes) {
  let found = new Uint8Array(bytes.length + 256);
  let [length, same] = [0, 0];
  for (let i = 0; i < bytes.length; i++) {
    if (found.length < length + 256) found = longer(found);
    if (same === 4) {
      found.fill(bytes[i - 1], length, length + bytes[i]);
      length += bytes[i];
      same = 0;
    } else {
      same = same > 0 && bytes[i] === bytes[i - 1] ? same + 1 : 1;
      found[length++] = bytes[i];
    }
  }
  return found.subarray(0, length);
}

function longer(bytes) {
  const more = new Uint8Array(2 * bytes.length);
  more.set(bytes);
  return more;
}
