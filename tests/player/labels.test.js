import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import test from "node:test";

import { CARDS } from "../../assets/player/cards.js";
import { closest, translator } from "../../assets/player/labels.js";
import { strings } from "./fixtures.js";

const own = (table) => Object.fromEntries(Object.entries(table).filter(([key]) => key.startsWith("player.")));
const placeholders = (text) => [...new Set(text.match(/\{\w+\}/g) ?? [])].sort();

test("both languages have the same keys with the same placeholders", () => {
  const [en, zh] = [own(strings.en), own(strings.zh)];
  assert.deepEqual(Object.keys(zh).sort(), Object.keys(en).sort());
  for (const key of Object.keys(en)) assert.deepEqual(placeholders(zh[key]), placeholders(en[key]), key);
});

test("a Chinese text is Chinese, but for names, formulas and log lines", () => {
  const same = Object.keys(own(strings.zh)).filter(
    (key) => strings.zh[key] === strings.en[key] && strings.en[key] !== "",
  );
  const allowed =
    /^player\.(engine\.|card\.\w+\.(value|formula|vllm|sglang|llamacpp|transformers)$|walk\.draw\.formula_|lane\.draft$)/;
  // "drafter, γ = 5" differs in its comma only.
  assert.deepEqual(
    same.filter((key) => !allowed.test(key)),
    [],
  );
});

test("every text that the code asks for exists, and every text is asked for", () => {
  const folder = new URL("../../assets/player/", import.meta.url);
  const code = readdirSync(folder)
    .filter((name) => name.endsWith(".js"))
    .map((name) => readFileSync(new URL(name, folder), "utf8"))
    .join("\n");
  // A key in the code: a plain string or a template whose holes stand for any word.
  const literals = [
    ...code.matchAll(/["`]((?:[a-z_]+|\$\{[^}]*\})(?:[._-]?(?:[a-z_]+|\$\{(?:[^{}`]|`[^`]*`)*\}))*)["`]/g),
  ].map((match) => match[1]);
  const patterns = [...new Set(literals)].map(
    (key) => new RegExp(`^player\\.${key.replace(/[.-]/g, "\\$&").replace(/\$\{[^}]*\}/g, "[\\w.-]+")}$`),
  );
  const prefixed = [
    /^player\.(fate|verdict|why|hero|round|walk|controls|ghosts|legend|lanes|lane|drafter|card|engine|inspector|chart|cards|facts|stage|speak|present|source|rule)\./,
  ];
  for (const key of Object.keys(own(strings.en)))
    assert.ok(patterns.some((pattern) => pattern.test(key)) || prefixed.some((pattern) => pattern.test(key)), key);
  const asked = [...code.matchAll(/\bt(?:\.parts)?\("([a-z_.]+)"/g)].map((match) => match[1]);
  assert.ok(asked.length > 60);
  for (const key of asked) assert.ok(`player.${key}` in strings.en, key);
});

test("every card has its name, caption, definition and formula", () => {
  for (const id of Object.keys(CARDS))
    for (const part of ["name", "caption", "definition", "formula"])
      assert.ok(strings.en[`player.card.${id}.${part}`], `${id} ${part}`);
});

test("placeholders are filled, may be elements, and are never read twice", () => {
  const t = translator(
    { en: { "player.a": "from {x} to {y}", "player.b": "plain" }, zh: { "player.a": "{y} 自 {x}" } },
    "en",
  );
  assert.equal(t("a", { x: 1, y: "{x}" }), "from 1 to {x}");
  assert.deepEqual(t.parts("a", { x: { tag: "b" }, y: 2 }), ["from ", { tag: "b" }, " to ", 2]);
  t.setLanguage("zh-HK");
  assert.equal(t("a", { x: 1, y: 2 }), "2 自 1");
  assert.equal(t("b"), "plain");
  assert.deepEqual([t.has("b"), t.has("c"), t("c")], [true, false, "c"]);
});

test("a language tag finds its table", () => {
  const tables = { en: {}, zh: {} };
  assert.deepEqual(
    ["zh", "zh-Hans-CN", "zh-HK", "ZH_tw", "en-GB", "fr", "", undefined].map((tag) => closest(tag, tables)),
    ["zh", "zh", "zh", "zh", "en", "en", "en", "en"],
  );
});
