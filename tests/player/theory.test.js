import assert from "node:assert/strict";
import test from "node:test";

import * as theory from "../../assets/player/theory.js";
import { asset } from "./fixtures.js";

// The same file and the same checks as tests/core/test_theory.py.
const goldens = JSON.parse(asset("theory-goldens.json"));
const at = (values) => (n) => values[n - 1];
const exact = (value, golden, row) =>
  assert.ok(
    Math.abs(value - golden) <= 1e-12 * Math.max(1, Math.abs(golden)),
    `${value} is not ${golden} in ${JSON.stringify(row)}`,
  );
const shown = (value, golden, digits) =>
  golden === undefined || assert.equal(value.toFixed(digits), golden.toFixed(digits));

test("published values", () => {
  for (const row of goldens.published) {
    if (row.best_gamma !== undefined) {
      assert.equal(theory.bestGamma(row.alpha, row.c), row.best_gamma);
      shown(theory.speedup(row.alpha, row.best_gamma, row.c), row.speedup, 2);
      continue;
    }
    shown(theory.tau(row.alpha, row.gamma), row.tau, 2);
    shown(theory.arithmetic(row.alpha, row.gamma), row.arithmetic, 2);
    shown(theory.acceptedPerDrafted(row.alpha, row.gamma), row.accepted_per_drafted, 3);
    shown(theory.acceptedPerEmitted(row.alpha, row.gamma), row.accepted_per_emitted, 3);
  }
});

test("exact rows", () => {
  for (const row of goldens.rows) {
    exact(theory.tau(row.alpha, row.gamma), row.tau, row);
    exact(theory.speedup(row.alpha, row.gamma, row.c), row.speedup, row);
    exact(theory.arithmetic(row.alpha, row.gamma, row.c_hat), row.arithmetic, row);
    exact(theory.acceptedPerEmitted(row.alpha, row.gamma), row.accepted_per_emitted, row);
    assert.equal(theory.worthIt(row.alpha, row.c), row.worth_it);
    if (row.gamma) exact(theory.acceptedPerDrafted(row.alpha, row.gamma), row.accepted_per_drafted, row);
  }
});

test("measured verification and the best γ", () => {
  for (const row of goldens.measured_verification) {
    row.v.forEach((_, gamma) => exact(theory.speedup(row.alpha, gamma, row.c, at(row.v)), row.speedup[gamma], row));
    assert.equal(theory.bestGamma(row.alpha, row.c, at(row.v), row.v.length - 1), row.best_gamma);
  }
  for (const row of goldens.best_gamma) {
    assert.equal(theory.bestGamma(row.alpha, row.c, undefined, row.most), row.best_gamma);
    exact(theory.speedup(row.alpha, row.best_gamma, row.c), row.speedup, row);
  }
});

test("τ by position, β and the limit", () => {
  for (const row of goldens.tau_by_position) exact(theory.tauByPosition(row.alphas), row.tau, row);
  for (const row of goldens.beta) exact(theory.beta(row.p, row.q), row.beta, row);
  for (const row of goldens.limit)
    exact(theory.limit(row.tokens, row.t_one, row.rounds, row.t_draft, at(row.t_pass)), row.limit, row);
});
