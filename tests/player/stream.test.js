import assert from "node:assert/strict";
import test from "node:test";

import { Stream } from "../../assets/player/stream.js";
import { text } from "./fixtures.js";

const HEADER = '{"specdemo":1,"kind":"live"}\n';

test("only whole new lines are parsed", () => {
  const stream = new Stream();
  assert.deepEqual(stream.read(`${HEADER}{"event":"a"}\n{"eve`), {
    fresh: true,
    header: { specdemo: 1, kind: "live" },
    records: [{ event: "a" }],
  });
  const next = stream.read(`${HEADER}{"event":"a"}\n{"event":"b"}\n`);
  assert.equal(next.fresh, false);
  assert.deepEqual(next.records, [{ event: "b" }]);
  assert.deepEqual(stream.read(`${HEADER}{"event":"a"}\n{"event":"b"}\n`).records, []);
});

test("a fixture fed in pieces of any size gives the same records as at once", () => {
  for (const name of ["bytes", "hostile"]) {
    const ndjson = text(name);
    const whole = new Stream().read(ndjson).records;
    for (const size of [13, 977, 20011]) {
      const stream = new Stream();
      const pieces = [];
      for (let end = size; end < ndjson.length + size; end += size)
        pieces.push(...stream.read(ndjson.slice(0, end)).records);
      assert.deepEqual(pieces, whole);
    }
  }
});

test("another stream starts over: a shorter text, another text, a second header", () => {
  const stream = new Stream();
  stream.read(`${HEADER}{"event":"a"}\n{"event":"b"}\n`);
  assert.deepEqual(stream.read(`${HEADER}{"event":"c"}\n`), {
    fresh: true,
    header: { specdemo: 1, kind: "live" },
    records: [{ event: "c" }],
  });
  const other = stream.read('{"specdemo":1,"kind":"trace"}\n{"event":"d"}\n{"event":"e"}\n');
  assert.equal(other.fresh, true);
  assert.deepEqual(other.records, [{ event: "d" }, { event: "e" }]);
  const twice = new Stream().read(`${HEADER}{"event":"a"}\n{"specdemo":1,"kind":"trace"}\n{"event":"f"}\n`);
  assert.deepEqual([twice.header.kind, twice.records], ["trace", [{ event: "f" }]]);
});

test("an empty text forgets everything", () => {
  const stream = new Stream();
  stream.read(`${HEADER}{"event":"a"}\n`);
  assert.equal(stream.read("").header, null);
});

test("lines that follow are taken without the text before them", () => {
  const ndjson = text("bytes");
  const cut = ndjson.indexOf("\n", ndjson.length / 2) + 1;
  const stream = new Stream();
  const first = stream.read(ndjson.slice(0, cut));
  const rest = stream.more(ndjson.slice(cut));
  assert.equal(rest.fresh, false);
  assert.deepEqual([...first.records, ...rest.records], new Stream().read(ndjson).records);
  assert.deepEqual(stream.read(ndjson).records, []);
});
