import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import test from "node:test";

import { page } from "./dom-stub.js";
import { strings, text } from "./fixtures.js";

const folder = new URL("../../assets/player/", import.meta.url);
const files = readdirSync(folder).filter((name) => name.endsWith(".js"));
const source = (name) => readFileSync(new URL(name, folder), "utf8");
const IMPORT = /^import \{ [\w, ]+ \} from "\.\/([\w-]+\.js)";\n/gm;

// The rule: each module after those it imports, without its import lines and the word `export`.
function* ordered(name, seen = new Set()) {
  if (seen.has(name)) return;
  seen.add(name);
  for (const [, dependency] of source(name).matchAll(IMPORT)) yield* ordered(dependency, seen);
  yield source(name)
    .replace(IMPORT, "")
    .replace(/^export (?=function|const|class)/gm, "");
}

const bundle = [...ordered("player.js")].join("\n");

test("modules import and export in the one simple form", () => {
  for (const name of files) {
    const rest = source(name)
      .replace(IMPORT, "")
      .replace(/^export (?=function\*? |const |class )/gm, "");
    assert.doesNotMatch(rest, /^\s*(import|export)\b/m, name);
  }
});

test("no name is taken twice at the top of the files", () => {
  const names = files.flatMap((name) =>
    [...source(name).matchAll(/^(?:export )?(?:function\*?|const|let|class) ([\w$]+)/gm)].map((match) => match[1]),
  );
  assert.deepEqual(
    names.filter((name, i) => names.indexOf(name) !== i),
    [],
  );
});

test("a page may carry the bundle inside a classic script", () => {
  assert.doesNotMatch(bundle, /<\/script|<!--/i);
  assert.ok(Buffer.byteLength(bundle) < 130_000);
});

test("the bundle plays without modules, and charts are left out where their library is", () => {
  const mount = new Function(`"use strict";${bundle}\nreturn mount;`)();
  const root = page();
  const player = mount(root, { strings, autoplay: false, clock: { now: () => 0, request: () => 1, cancel: () => {} } });
  player.feed(text("greedy"));
  player.seek(player.last());
  assert.match(root.one(".sd-hero").textContent, /identical 80\/80 ✓/);
});
