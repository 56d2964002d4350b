// The scripts of the page: what its components call when they are put in place. One closure per instance.

import { mount } from "../player/player.js";
import { address, copyText, said } from "./address.js";
import { showHead } from "./head.js";
import { showKnobs } from "./knobs.js";
import { pageHost } from "./lessons-host.js";
import { Lessons } from "./lessons.js";
import { showLine } from "./line.js";
import { inPlace } from "./parts.js";
import { showSnippets } from "./snippets.js";
import { Measure } from "./measure.js";
import { Prove } from "./prove.js";
import { Stage } from "./stage.js";
import { offered } from "./tabs.js";
import { Theory } from "./theory.js";
import { Train } from "./train.js";

/** The name of the page, its language and its theme. */
export function head(component) {
  showHead(component);
}

/** The player with its bar of runs. */
export function stage(component) {
  return inPlace("stage", new Stage(component, mount));
}

/** What the formulas promise. */
export function theory(component) {
  return inPlace("theory", new Theory(component));
}

/** Sweeps, and what a wide pass costs. */
export function measure(component) {
  return new Measure(component);
}

/** Tests that a rule keeps the target's law. */
export function prove(component) {
  return inPlace("prove", new Prove(component));
}

/** A draft from the visitor's own text. */
export function train(component) {
  return new Train(component);
}

/** The lessons, which lead through the other parts. settings: puts values into the widgets; absent where there are none. */
export function lessons(component) {
  const host = pageHost({ settings: component.settings ?? null, tabs: offered() });
  return inPlace("lessons", new Lessons({ ...component, element: component.element.querySelector(".sp-lessons"), host }));
}

/** A line of text in the reader's language. */
export function line(component) {
  showLine(component);
}

/** The drafter's own settings. */
export function knobs(component) {
  showKnobs(component);
}

/** The settings as code. */
export function snippets(component) {
  showSnippets(component);
}

/** A player without a page around it: for files saved to disk. */
export function player(root, options) {
  return mount(root, options);
}

/** Puts the settings into the address bar, so that a reload keeps them. */
export function remember(names, defaults, values) {
  window.history.replaceState(null, "", address(names, defaults, values));
}

/** Copies the address that brings these settings back; the button shows that it is done. */
export async function link(names, defaults, values, button) {
  remember(names, defaults, values);
  await copyText(address(names, defaults, values));
  said(button);
}

/** Opens the sheet with all settings, or closes it. */
export function sheet() {
  const open = document.querySelector("#dock").classList.toggle("sp-open");
  document.querySelector("#more").setAttribute("aria-expanded", String(open));
}
