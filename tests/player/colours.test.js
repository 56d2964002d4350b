import assert from "node:assert/strict";
import test from "node:test";

import { asset } from "./fixtures.js";

// Text on what it stands on must have a contrast of 4.5, in both themes. The four coloured fates must differ for every eye
// by ΔE 24 (CIE76), seen through Machado, Oliveira and Fernandes' (2009) full protanopia, deuteranopia and tritanopia. The
// grey of discarded guesses, which are ghosts with a dotted line wherever they stand, must differ from them by 12.
const CONTRAST = 4.5;
const DISTANCE = { coloured: 24, grey: 12 };
const FATES = ["accepted", "rejected", "resampled", "bonus"];

const css = asset("style.css");
const themes = [
  ...css.matchAll(/^\.sd-root(?:\[data-theme="dark"\],\n[^{]*)? \{\n((?:  --sd-[\w-]+: #[0-9a-f]{6};\n)+)\}/gm),
].map(([, body]) =>
  Object.fromEntries([...body.matchAll(/--sd-([\w-]+): (#\w+)/g)].map(([, name, value]) => [name, value])),
);
const [light, dark] = themes;

const rgb = (hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16) / 255);
const linear = (colour) => colour.map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
const mix = (over, under, part) => rgb(over).map((c, i) => part * c + (1 - part) * rgb(under)[i]);
const luminance = (colour) => linear(colour).reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
const contrast = (a, b) => {
  const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (high + 0.05) / (low + 0.05);
};

const MACHADO = {
  protanopia: [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  deuteranopia: [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
  tritanopia: [
    [1.255528, -0.076749, -0.178779],
    [-0.078411, 0.930809, 0.147602],
    [0.004733, 0.691367, 0.3039],
  ],
  everyone: [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
};
const XYZ = [
  [0.4124564, 0.3575761, 0.1804375],
  [0.2126729, 0.7151522, 0.072175],
  [0.0193339, 0.119192, 0.9503041],
];
const times = (matrix, vector) => matrix.map((row) => row.reduce((sum, c, i) => sum + c * vector[i], 0));

function lab(colour, eye) {
  const seen = times(MACHADO[eye], linear(colour)).map((c) => Math.min(1, Math.max(0, c)));
  const f = (t) => (t > 216 / 24389 ? Math.cbrt(t) : (24389 / 27) * (t / 116) + 16 / 116);
  const [x, y, z] = times(XYZ, seen).map((c, i) => f(c / [0.95047, 1, 1.08883][i]));
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}

const distance = (a, b, eye) => Math.hypot(...lab(a, eye).map((c, i) => c - lab(b, eye)[i]));

test("both themes define the same colours", () => {
  assert.equal(themes.length, 2);
  assert.deepEqual(Object.keys(dark), Object.keys(light));
});

for (const [name, theme] of [
  ["light", light],
  ["dark", dark],
]) {
  test(`text contrast in the ${name} theme`, () => {
    const texts = ["ink", "muted", "accent", "p", "q", "discarded", ...FATES];
    for (const text of texts)
      for (const ground of ["panel", "bg"])
        assertContrast(rgb(theme[text]), rgb(theme[ground]), `${text} on ${ground}`);
    assertContrast(rgb(theme["on-accent"]), rgb(theme.accent), "on-accent on accent");
    for (const fate of FATES) {
      // A cell of the grid, a token of a lane, the same chosen or hovered, a special token's chip on it.
      assertContrast(rgb(theme[fate]), mix(theme[fate], theme.panel, 0.09), `${fate} in its cell`);
      for (const part of [0.14, 0.3])
        assertContrast(rgb(theme.ink), mix(theme[fate], theme.panel, part), `ink on ${fate} at ${part}`);
      for (const ground of ["panel", "bg"])
        assertContrast(rgb(theme[fate]), mix(theme[fate], theme[ground], 0.14), `${fate} chip on ${ground}`);
    }
    for (const side of ["accepted", "rejected"])
      assertContrast(rgb(theme.ink), mix(theme[side], theme.panel, 0.26), `ink on the number line, ${side}`);
    for (const text of ["ink", "accent"])
      assertContrast(rgb(theme[text]), mix(theme.accent, theme.panel, 0.07), `${text} on a hovered row`);
    assertContrast(rgb(theme.ink), mix(theme.accent, theme.bg, 0.2), "ink on a lit line");
  });

  test(`fates are apart for every eye in the ${name} theme`, () => {
    for (const eye of Object.keys(MACHADO)) {
      for (const [i, one] of FATES.entries()) {
        for (const other of FATES.slice(i + 1)) assertApart(theme, one, other, eye, DISTANCE.coloured);
        assertApart(theme, one, "discarded", eye, DISTANCE.grey);
      }
    }
  });
}

test("every fate has a line style of its own in the lanes and in the grid", () => {
  const rule = (selector) =>
    [...css.matchAll(/^([^{}@/]+) \{([^}]*)\}/gm)]
      .filter(([, selectors]) => selectors.trim() === selector)
      .map(([, , body]) => body)
      .join();
  assert.match(rule(".sd-root .sd-token.sd-accepted"), /3px/);
  assert.match(rule(".sd-root .sd-ghost.sd-rejected"), /line-through/);
  assert.match(rule(".sd-root .sd-ghost.sd-discarded"), /repeating-linear-gradient/);
  assert.match(rule(".sd-root .sd-token.sd-resampled"), /0 2px, transparent 2px 4px/);
  assert.match(rule(".sd-root .sd-token.sd-bonus"), /6px/);
  assert.match(rule(".sd-root button.sd-cell.sd-discarded"), /dotted/);
  assert.match(rule(".sd-root button.sd-cell.sd-resampled"), /double/);
  assert.match(rule(".sd-root button.sd-cell.sd-bonus"), /4px solid/);
});

function assertApart(theme, one, other, eye, least) {
  const apart = distance(rgb(theme[one]), rgb(theme[other]), eye);
  assert.ok(apart >= least, `${one} and ${other}, ${eye}: ${apart.toFixed(1)}`);
}

function assertContrast(text, ground, what) {
  const found = contrast(text, ground);
  assert.ok(found >= CONTRAST, `${what}: ${found.toFixed(2)}`);
}
