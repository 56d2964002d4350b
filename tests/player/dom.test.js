// The patch: which nodes it reuses, and what it leaves to the hand that is writing.
import assert from "node:assert/strict";
import test from "node:test";

import { h, patch } from "../../assets/player/dom.js";
import { markup, page } from "./dom-stub.js";

const button = (key) => h("button", { key }, key);
const names = (root) => root.children.map(({ textContent }) => textContent).join(" ");

test("a node with a key is found again wherever it stands, and is never made into another", () => {
  const root = page();
  patch(root, ["next", "skip"].map(button));
  const [next, skip] = root.children;
  next.focus();
  for (const shown of ["back next skip", "next skip", "start back next skip", "next"]) {
    patch(root, shown.split(" ").map(button));
    assert.equal(names(root), shown);
    assert.equal(root.ownerDocument.activeElement, next, shown);
  }
  patch(root, [button("skip")]);
  assert.equal(names(root), "skip");
  assert.notEqual(root.firstChild, skip);
  assert.equal(root.ownerDocument.activeElement, null);
  assert.equal(markup(root.firstChild), "<button>skip</button>");
});

test("nodes with a key and nodes without one do not take each other's place", () => {
  const root = page();
  patch(root, [h("p", {}, "a"), h("p", { key: "k" }, "b"), h("p", {}, "c")]);
  const [, keyed] = root.children;
  patch(root, [h("p", { key: "k" }, "b"), h("p", {}, "c"), "text"]);
  assert.equal(root.firstChild, keyed);
  patch(root, [h("p", {}, "c")]);
  assert.equal(markup(root), "<div><p>c</p></div>");
  assert.notEqual(root.firstChild, keyed);
});

test("a number that is being written stays as it is written, and is put right afterwards", () => {
  const root = page();
  const draw = (value) => patch(root, [h("input", { type: "number", value })]);
  draw(5);
  const field = root.firstChild;
  assert.equal(field.value, "5");
  field.focus();
  for (const [written, value] of [["", 5], [".5", 0.5], ["0.0", 0]]) {
    field.value = written;
    draw(value);
    assert.equal(field.value, written);
  }
  draw(3);
  assert.equal(field.value, "3");
  field.value = "";
  root.ownerDocument.activeElement = null;
  draw(3);
  assert.equal(field.value, "3");
});

test("a box that a hand has ticked shows what is described", () => {
  const root = page();
  const draw = (checked) => patch(root, [h("input", { type: "checkbox", checked })]);
  draw(true);
  root.firstChild.checked = false;
  draw(true);
  assert.equal(root.firstChild.checked, true);
  draw(false);
  assert.equal(root.firstChild.checked, false);
});
