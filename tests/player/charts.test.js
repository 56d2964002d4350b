// The charts draw in turns, so that a canvas never holds up the rest of a page for long.
import assert from "node:assert/strict";
import test from "node:test";

import { Charts } from "../../assets/player/charts.js";
import { raceAt } from "../../assets/player/compare.js";
import { stateAt } from "../../assets/player/state.js";
import { page } from "./dom-stub.js";
import { long, timelineOf } from "./fixtures.js";

class Plot {
  static made = [];
  static paths = { stepped: () => null, bars: () => null };

  constructor(options, data) {
    this.width = options.width;
    this.drawn = [data];
    Plot.made.push(this);
  }

  setData(data) {
    this.drawn.push(data);
  }

  destroy() {}
}

test("one chart at a time, and in the end each shows the latest state", () => {
  const root = page();
  const waiting = [];
  Object.assign(root.ownerDocument.defaultView, { setTimeout: (callback) => waiting.push(callback), clearTimeout: () => {} });
  const timeline = timelineOf(long(60));
  const modelAt = (position) => {
    const state = stateAt(timeline, position);
    return { state, timeline, race: raceAt(state, null) };
  };
  const charts = new Charts(root, Plot);
  charts.width = 300;
  const draws = () => Plot.made.reduce((sum, plot) => sum + plot.drawn.length, 0);
  for (let position = 10; position <= timeline.steps.length; position++) charts.update(modelAt(position));
  assert.equal(draws(), 1);
  while (waiting.length) {
    const before = draws();
    waiting.shift()();
    assert.ok(draws() <= before + 1);
  }
  const names = Object.keys(charts.plots);
  assert.equal(names.length, 3);
  const rounds = charts.plots.rounds.chart.drawn.at(-1)[0];
  assert.equal(rounds.length, timeline.lanes[0].rounds.length);
  assert.equal(charts.plots.race.chart.drawn.at(-1)[1].at(-2), null);
});
