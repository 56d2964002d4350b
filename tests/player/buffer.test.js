// The page's copy of a stream: parts of a text that overlap, miss some, or come twice.
import assert from "node:assert/strict";
import test from "node:test";

import { Buffer } from "../../assets/page/buffer.js";
import { Stage } from "../../assets/page/stage.js";

const START = '{"event":"run_started"}\n';
const FINISH = '{"event":"run_finished"}\n';
const value = (run, first, text) => `${JSON.stringify({ run, source: "live", first })}\n${text}`;

test("parts that overlap are joined without a line twice", () => {
  const buffer = new Buffer();
  buffer.receive(value("a", 0, "1\n"));
  buffer.receive(value("a", 0, "1\n2\n3\n"));
  buffer.receive(value("a", 2, "3\n4\n"));
  assert.equal(buffer.text, "1\n2\n3\n4\n");
});

test("a value that brings nothing new is nothing", () => {
  const buffer = new Buffer();
  assert.equal(buffer.receive(""), null);
  assert.notEqual(buffer.receive(value("a", 0, "1\n2\n")), null);
  assert.equal(buffer.receive(value("a", 0, "1\n2\n")), null);
  assert.equal(buffer.receive(value("a", 0, "1\n")), null);
  assert.equal(buffer.text, "1\n2\n");
});

test("lines behind a gap wait until the whole text comes", () => {
  const buffer = new Buffer();
  buffer.receive(value("a", 0, "1\n"));
  assert.equal(buffer.receive(value("a", 3, "4\n")), null);
  assert.equal(buffer.text, "1\n");
  buffer.receive(value("a", 0, "1\n2\n3\n4\n5\n"));
  assert.equal(buffer.text, "1\n2\n3\n4\n5\n");
});

test("another run begins anew", () => {
  const buffer = new Buffer();
  buffer.receive(value("a", 0, `1\n${START}`));
  buffer.receive(value("b", 0, "2\n"));
  assert.equal(buffer.text, "2\n");
  assert.equal(buffer.whole, false);
});

test("a run is whole when all of its lanes have ended", () => {
  const buffer = new Buffer(`header\n${START}${START}${FINISH}`);
  assert.equal(buffer.whole, false);
  buffer.append(FINISH);
  assert.equal(buffer.whole, true);
});

test("a recorded run that is kept stays what it was when a live run takes its buffer", async () => {
  const live = new Buffer();
  const stage = Object.assign(Object.create(Stage.prototype), { shown: { buffer: live, key: "trace hero" } });
  live.receive(value("hero", 0, START + FINISH));
  const { buffer } = await stage.load("hero");
  live.receive(value("other", 0, START));
  assert.equal(buffer.text, START + FINISH);
});
