// The scripts of the page: what its components call when they are put in place. One closure per instance.

import { mount } from "../player/player.js";
import { address, copyText, said } from "./address.js";
import { showHead } from "./head.js";
import { showKnobs } from "./knobs.js";
import { showLine } from "./line.js";
import { showSnippets } from "./snippets.js";
import { Prove } from "./prove.js";
import { Stage } from "./stage.js";
import { Theory } from "./theory.js";

/** The name of the page, its language and its theme. */
export function head(component) {
  showHead(component);
}

/** The player with its bar of runs. */
export function stage(component) {
  return new Stage(component, mount);
}

/** What the formulas promise. */
export function theory(component) {
  return new Theory(component);
}

/** Tests that a rule keeps the target's law. */
export function prove(component) {
  return new Prove(component);
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
