import assert from "node:assert/strict";
import test from "node:test";

import { Timeline } from "../../assets/player/state.js";
import { Transport, comfortableSpeed } from "../../assets/player/transport.js";
import { long, records, text, timelineOf } from "./fixtures.js";

// Time moves only when told to; every frame that was asked for runs then.
function fakeClock() {
  const clock = { time: 0, frames: new Map(), next: 1, now: () => clock.time };
  clock.request = (callback) => {
    clock.frames.set(clock.next, callback);
    return clock.next++;
  };
  clock.cancel = (id) => clock.frames.delete(id);
  clock.advance = (milliseconds, frame = 16) => {
    for (const end = clock.time + milliseconds; clock.time < end;) {
      clock.time = Math.min(end, clock.time + frame);
      const frames = [...clock.frames.values()];
      clock.frames.clear();
      for (const callback of frames) callback();
    }
  };
  return clock;
}

function player(ndjson) {
  const clock = fakeClock();
  const moves = [];
  const transport = new Transport(clock, () => moves.push(transport.position));
  transport.restart(timelineOf(ndjson));
  return { clock, moves, transport };
}

test("playback stands where the race stood after the same time, at any speed", () => {
  for (const speed of [0.25, 0.5, 1, 2, 4]) {
    const { clock, transport } = player(text("greedy"));
    transport.setSpeed(speed);
    transport.play();
    clock.advance(480 / speed);
    assert.equal(transport.position, transport.timeline.positionAt(0.48 - 1e-9), `${speed}×`);
    clock.advance(60000);
    assert.deepEqual([transport.atEnd, transport.playing], [true, false]);
  }
});

test("the end is told once, when a run has played to it, and not on the way or by a jump", () => {
  const clock = fakeClock();
  let ends = 0;
  const transport = new Transport(
    clock,
    () => {},
    () => ends++,
  );
  transport.restart(timelineOf(text("greedy")));
  transport.seek(transport.last);
  transport.play();
  clock.advance(100);
  assert.equal(ends, 0);
  clock.advance(60000);
  assert.equal(ends, 1);
});

test("a frame in which nothing happens draws nothing", () => {
  const { clock, moves, transport } = player(text("greedy"));
  transport.play();
  clock.advance(4000, 4);
  assert.equal(new Set(moves).size, moves.length);
});

test("step, back, seek and the ends are positions in the list and stop playback", () => {
  const { transport } = player(text("greedy"));
  transport.play();
  transport.step(1);
  assert.deepEqual([transport.position, transport.playing], [1, false]);
  transport.step(-1);
  transport.step(-1);
  assert.equal(transport.position, 0);
  transport.seek(1e6);
  assert.equal(transport.position, transport.last);
  transport.seek(7.4);
  assert.equal(transport.position, 7);
});

test("play at the end starts over; pause keeps the place", () => {
  const { clock, transport } = player(text("greedy"));
  transport.seek(transport.last);
  transport.play();
  assert.equal(transport.position, 0);
  clock.advance(300);
  transport.pause();
  const { position } = transport;
  clock.advance(1000);
  assert.equal(transport.position, position);
  transport.toggle();
  assert.ok(transport.playing);
});

test("a hidden tab does not jump ahead", () => {
  const { clock, transport } = player(text("greedy"));
  transport.play();
  clock.advance(100000, 100000);
  assert.ok(transport.position < 10);
});

test("a live run is followed until the reader moves, then on request again", () => {
  const [header, ...lines] = records(long(30, "live"));
  const transport = new Transport(fakeClock(), () => {});
  const timeline = new Timeline(header);
  transport.restart(timeline);
  const feed = (count) => {
    timeline.append(lines.splice(0, count));
    transport.grown();
  };
  feed(20);
  assert.deepEqual([transport.position, transport.following], [transport.last, true]);
  transport.step(-2);
  feed(10);
  assert.ok(!transport.following && transport.position < transport.last);
  transport.toLive();
  feed(10);
  assert.equal(transport.position, transport.last);
});

test("playing into the head of a live run follows it again", () => {
  const [header, ...lines] = records(long(30, "live"));
  const clock = fakeClock();
  const transport = new Transport(clock, () => {});
  const timeline = new Timeline(header);
  transport.restart(timeline);
  timeline.append(lines.slice(0, 40));
  transport.grown();
  transport.seek(2);
  transport.play();
  clock.advance(5000);
  assert.deepEqual([transport.following, transport.playing, transport.position], [true, false, transport.last]);
});

test("an empty run can be played, stepped and left without harm", () => {
  const { transport } = player(text("empty"));
  transport.play();
  transport.step(1);
  transport.toggle();
  assert.deepEqual([transport.position, transport.playing], [0, false]);
});

test("a short race is slowed down until it can be watched", () => {
  assert.deepEqual([20, 6, 4, 2, 0.3].map(comfortableSpeed), [1, 1, 0.5, 0.25, 0.25]);
});
