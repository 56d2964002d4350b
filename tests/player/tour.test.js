// The tour: steps that play, hold and go on, over the real player with a clock of ours.
import assert from "node:assert/strict";
import test from "node:test";

import { sceneOf } from "../../assets/page/scenes.js";
import { predict, tellingRound } from "../../assets/page/telling.js";
import { FIRST } from "../../assets/page/tour-steps.js";
import { Tour } from "../../assets/page/tour.js";
import { raceAt } from "../../assets/player/compare.js";
import { mount } from "../../assets/player/player.js";
import { stateAt } from "../../assets/player/state.js";
import { speedup } from "../../assets/player/theory.js";
import { page } from "./dom-stub.js";
import { asset, strings, text, timelineOf } from "./fixtures.js";

/** A clock that moves only when told: frames of the player and timers of the tour. */
class Time {
  constructor() {
    this.ms = 0;
    this.frame = null;
    this.timers = new Map();
    this.ids = 0;
  }

  now = () => this.ms;
  request = (callback) => {
    this.frame = callback;
    return 1;
  };
  cancel = (id) => (id === 1 ? (this.frame = null) : this.timers.delete(id));
  after = (ms, callback) => {
    this.ids += 1;
    this.timers.set(10 + this.ids, { at: this.ms + ms, callback });
    return 10 + this.ids;
  };

  pass(seconds) {
    for (const end = this.ms + 1000 * seconds; this.ms < end; this.ms += 50) {
      const { frame } = this;
      this.frame = null;
      frame?.();
      for (const [id, timer] of this.timers)
        if (timer.at <= this.ms) {
          this.timers.delete(id);
          timer.callback();
        }
    }
  }
}

const TRACES = { hero: "greedy", code: "lookup", foil: "foil" };

function open(steps = FIRST, { still = false } = {}) {
  const root = page();
  const time = new Time();
  const shown = { trace: null, scene: null };
  let tour = null;
  const player = mount(root, { strings, autoplay: false, clock: time, onPosition: () => tour?.moved() });
  const host = {
    player,
    load: async (trace) => (TRACES[trace] ? { trace } : null),
    put({ trace }) {
      shown.trace = trace;
      player.feed(text(TRACES[trace]));
    },
    showScene(name) {
      shown.scene = name;
      player.showScene(name && sceneOf(name, null));
    },
  };
  const seen = [];
  tour = new Tour(steps, host, time, () => seen.push(tour.step?.id ?? "over"), still);
  return { root, time, shown, tour, player, seen };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

test("the first thirty seconds: race, round, foil, question; the last waits", async () => {
  const { root, time, shown, tour, player, seen } = open();
  await tour.start();
  assert.equal(shown.trace, "hero");
  assert.equal(player.position(), 0);
  for (const scene of ["guess", "pass", "keep"]) {
    for (let i = 0; i < 400 && shown.scene !== scene; i++) {
      time.pass(0.1);
      await settled();
    }
    assert.equal(shown.scene, scene);
    assert.equal(root.all(".sd-scene").length, 1);
  }
  for (let i = 0; i < 400 && tour.step.id !== "question"; i++) {
    time.pass(0.1);
    await settled();
  }
  await settled();
  assert.equal(shown.scene, "question");
  assert.equal(player.position(), player.last());
  assert.equal(root.all("[data-answer]").length, 3);
  time.pass(60);
  assert.deepEqual(seen, ["race", "round", "foil", "question"]);
  tour.next();
  assert.equal(seen.at(-1), "over");
  assert.equal(root.all(".sd-scene").length, 0);
});

test("next and back lead at once; whoever ends it keeps the stage as it is", async () => {
  const { root, time, shown, tour, player } = open();
  await tour.start();
  await tour.next();
  assert.equal(shown.scene, "guess");
  await tour.next();
  assert.equal(shown.trace, "foil");
  assert.equal(root.all(".sd-scene").length, 0);
  await tour.back();
  assert.equal(shown.scene, "guess");
  await tour.back();
  await tour.back();
  assert.equal(tour.step.id, "race");
  time.pass(1);
  const at = player.position();
  tour.end();
  assert.equal(tour.step, null);
  assert.equal(player.position(), at);
  time.pass(60);
  await settled();
  assert.equal(shown.trace, "hero");
});

test("a run that comes after the tour has ended is not put on the stage", async () => {
  const { tour, shown } = open();
  const entering = tour.start();
  tour.end();
  await entering;
  assert.equal(shown.trace, null);
});

test("a run that is not there ends the tour", async () => {
  const { tour, seen } = open([{ id: "lost", trace: "lost", beats: [{ at: "end" }] }]);
  await tour.start();
  assert.deepEqual(seen, ["lost", "over"]);
});

test("without motion every step shows its end and waits", async () => {
  const { tour, time, shown, player } = open(FIRST, { still: true });
  await tour.start();
  assert.equal(player.position(), player.last());
  time.pass(60);
  await settled();
  assert.equal(tour.step.id, "race");
  await tour.next();
  assert.equal(shown.scene, "keep");
  assert.ok(player.position() > 0 && player.position() < player.last());
});

test("lanes below a scene are out of reach, and a scene moves nothing", () => {
  const { root, player } = open();
  player.feed(text("greedy"));
  player.seek(player.last());
  player.showScene(sceneOf("question", null));
  assert.ok(root.all(".sd-lane").every((lane) => lane.getAttribute("inert") === ""));
  assert.equal(root.one(".sd-scene").parentNode, root.one(".sd-lanes"));
  player.showScene(null);
  assert.ok(root.all(".sd-lane").every((lane) => lane.getAttribute("inert") === null));
});

test("the round to tell of keeps, rejects and discards, and of equals is the first", () => {
  const round = (number, ...fates) => ({ number, judged: { fates } });
  const [all, mixed, again] = [
    round(1, "accepted", "accepted"),
    round(2, "accepted", "accepted", "rejected", "discarded"),
    round(3, "accepted", "accepted", "rejected", "discarded"),
  ];
  assert.equal(tellingRound([all, mixed, again]), 2);
  assert.equal(tellingRound([round(1), round(2, "accepted")]), 2);
});

const raceOf = (name) => {
  const timeline = timelineOf(asset(`traces/${name}.jsonl`));
  return raceAt(stateAt(timeline, timeline.steps.length), null);
};

test("the recorded runs of the tour are there", () => {
  for (const { trace } of FIRST) assert.ok(raceOf(trace).speculative.finished, trace);
});

test("theory at the run's own draft length is near what the run measured", () => {
  const race = raceOf("code");
  const { before } = predict(race, 12);
  assert.equal(before.gamma, race.speculative.lane.started.gamma);
  assert.ok(Math.abs(before.speed / race.comparison.speedup - 1) < 0.15, `${before.speed} ${race.comparison.speedup}`);
});

test("the prediction is the speedup formula where every round drafts", () => {
  const lane = { started: { gamma: 4 } };
  const metrics = { accepted: 80, tested: 100, proposals: 10, rounds: 10 };
  const race = { speculative: { lane, metrics }, comparison: { c: 0.1, v: 1.5, width: 5 } };
  const v = (n) => 1 + (0.5 * (n - 1)) / 4;
  const { before, after } = predict(race, 12);
  assert.ok(Math.abs(before.speed - speedup(0.8, 4, 0.1, v)) < 1e-12);
  assert.ok(Math.abs(after.speed - speedup(0.8, 12, 0.1, v)) < 1e-12);
});

test("the answer follows from what was measured", () => {
  const answer = (accepted, c, v) =>
    predict(
      {
        speculative: { lane: { started: { gamma: 4 } }, metrics: { accepted, tested: 100, proposals: 9, rounds: 10 } },
        comparison: { c, v, width: 5 },
      },
      12,
    ).answer;
  assert.equal(answer(98, 0, 1.1), "faster");
  assert.equal(answer(50, 0, 1.3), "slower");
  assert.equal(answer(50, 0, 1), "same");
  assert.equal(predict({ speculative: { metrics: { tested: 0 } }, comparison: { c: 0, v: 1 } }, 12), null);
});

test("every answer has its reason with the numbers, in both languages", () => {
  for (const language of ["en", "zh"]) {
    const { root, player } = open();
    player.setLanguage(language);
    player.feed(asset("traces/code.jsonl"));
    player.seek(player.last());
    for (const answer of ["faster", "same", "slower"]) {
      player.showScene(sceneOf("question", answer));
      const told = root.one(".sd-reason").textContent;
      assert.doesNotMatch(told, /[{}]|scene\.|undefined|NaN/);
      assert.match(told, /α = 0\.\d\d/);
      assert.equal(root.all(".sd-answer-right").length, 1);
      assert.equal(root.all(".sd-answer-wrong").length, root.one(".sd-answer-right").getAttribute("data-answer") === answer ? 0 : 1);
    }
  }
});
