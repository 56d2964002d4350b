import assert from "node:assert/strict";
import test from "node:test";

import { mount } from "../../assets/player/player.js";
import { markup, page } from "./dom-stub.js";
import { NAMES, long, strings, text } from "./fixtures.js";

const still = { now: () => 0, request: () => 1, cancel: () => {} };

function open(ndjson, options = {}) {
  const root = page(options);
  const player = mount(root, {
    strings,
    autoplay: false,
    clock: still,
    verify_source: "def verify():\n    pass",
    ...options,
  });
  if (ndjson) player.feed(ndjson);
  return { root, player };
}

const laneText = (root, i) => root.all(".sd-text-body")[i].textContent;
const click = (root, selector, i = 0) => root.all(selector)[i].send("click");
const focused = (root) => root.ownerDocument.activeElement?.getAttribute("data-do");
const said = (root) => root.one("[role=status][aria-live]").textContent;
const press = (node, key, more = {}) => node.send("keydown", { key, ...more });

test("the same position gives the same page, however it was reached", () => {
  for (const name of NAMES) {
    const { root, player } = open(text(name));
    const forward = [];
    for (let i = 0; i <= player.last(); i++) {
      player.seek(i);
      forward.push(markup(root));
    }
    for (let i = player.last(); i >= 0; i--) {
      player.seek(i);
      assert.equal(markup(root), forward[i], `${name}, back to ${i}`);
    }
    for (const i of [0.7, 0.1, 0.5, 0.9, 0].map((part) => Math.round(part * player.last()))) {
      player.seek(i);
      assert.equal(markup(root), forward[i], `${name}, jump to ${i}`);
    }
  }
});

test("a stream in pieces ends in the same page as the whole text at once", () => {
  for (const name of ["greedy", "bytes", "three"]) {
    const ndjson = text(name);
    const pieces = open();
    for (let end = 1500; end < ndjson.length + 1500; end += 1500) pieces.player.feed(ndjson.slice(0, end));
    const whole = open(ndjson);
    for (const { player } of [pieces, whole]) player.seek(player.last());
    assert.equal(markup(pieces.root), markup(whole.root), name);
  }
});

test("the text of a lane is the decoded text, exactly", () => {
  for (const name of NAMES) {
    const { root, player } = open(text(name));
    click(root, "[data-ghosts=none]");
    player.seek(player.last());
    const finished = text(name)
      .split("\n")
      .filter((line) => line.includes('"run_finished"'))
      .map((line) => JSON.parse(line));
    root
      .all(".sd-lane")
      .forEach((lane, i) =>
        assert.equal(
          laneText(root, i),
          finished.find((event) => event.lane === lane.getAttribute("data-lane")).text,
          name,
        ),
      );
  }
});

test("hostile strings are text: no element comes from them", () => {
  const { root, player } = open(text("hostile"));
  for (let i = 0; i <= player.last(); i++) {
    player.seek(i);
    for (const tag of ["script", "img", "style", "iframe"]) assert.deepEqual(root.all(tag), []);
  }
  assert.match(laneText(root, 0), /<\/script><script>alert\(1\)<\/script>\n\$\{7\*6\}` <img src=x onerror=alert\(1\)>/);
  assert.doesNotMatch(markup(root), /<(script|img|svg onload)|onerror="/);
});

test("a fallen line break breaks no line", () => {
  const { root, player } = open(text("greedy"));
  click(root, "[data-ghosts=all]");
  player.seek(player.last());
  const ghosts = root.all(".sd-text-body").flatMap((body) => body.all(".sd-ghost"));
  assert.ok(ghosts.some((ghost) => ghost.textContent.includes("⏎")));
  assert.ok(ghosts.every((ghost) => !ghost.textContent.includes("\n") && ghost.getAttribute("aria-hidden") === "true"));
});

test("only the current round shows its ghosts; older ones are counted; the switch shows all or none", () => {
  const { root, player } = open(text("greedy"));
  player.seek(player.last());
  const count = () => root.one(".sd-text-body").all(".sd-ghost").length;
  const last = JSON.parse(
    text("greedy")
      .split("\n")
      .filter((line) => line.includes('"round_finished","lane":"speculative"'))
      .at(-1),
  ).metrics;
  const now = count();
  assert.match(
    root.one(".sd-lane-note").textContent,
    new RegExp(`folded guesses: ${last.rejected + last.discarded - now}$`),
  );
  click(root, "[data-ghosts=all]");
  assert.equal(count(), last.rejected + last.discarded);
  click(root, "[data-ghosts=none]");
  assert.equal(count(), 0);
});

test("the grid: a correction under the fallen guess, the bonus behind the last one", () => {
  const { root, player } = open(text("greedy"));
  for (let i = 0; i <= player.last(); i++) {
    player.seek(i);
    const cells = root.one(".sd-round-panel").one(".sd-grid").all(".sd-cell");
    const columns = cells.length / 2;
    const column = (row, fate) =>
      cells.slice(row * columns, (row + 1) * columns).findIndex((cell) => cell.classList.contains(`sd-${fate}`));
    if (column(0, "rejected") >= 0) assert.equal(column(1, "resampled"), column(0, "rejected"));
    const bonus = column(1, "bonus");
    if (bonus >= 0)
      assert.ok(cells[bonus - 1].classList.contains("sd-accepted") && cells[bonus].classList.contains("sd-none"));
  }
});

test("a row of an earlier round goes there; the slider and the buttons move", () => {
  const { root, player } = open(text("greedy"));
  player.seek(player.last());
  click(root, ".sd-row-button", 2);
  const number = Number(root.one(".sd-rows").parentNode.parentNode.one(".sd-title").textContent.match(/\d+/)[0]);
  assert.ok(player.position() < player.last());
  assert.equal(Number(root.all(".sd-row-number")[0].textContent), number - 1);
  const slider = root.one(".sd-slider");
  slider.value = "3";
  slider.send("input");
  assert.equal(player.position(), 3);
  click(root, "[data-do=back]");
  assert.equal(player.position(), 2);
  click(root, "[data-do=first]");
  assert.equal(player.position(), 0);
  click(root, "[data-do=last]");
  assert.equal(player.position(), player.last());
});

test("keys work on the stage only, and leave modified keys and fields alone", () => {
  const { root, player } = open(text("greedy"));
  const stage = root.one(".sd-stage");
  press(stage, "ArrowRight");
  press(stage, "ArrowRight");
  press(stage, "ArrowLeft");
  assert.equal(player.position(), 1);
  assert.ok(press(stage, "End").defaultPrevented);
  assert.equal(player.position(), player.last());
  press(stage, "Home");
  assert.equal(player.position(), 0);
  assert.ok(!press(root.one(".sd-right").one("button"), "ArrowRight").defaultPrevented);
  assert.ok(!press(stage, "ArrowRight", { ctrlKey: true }).defaultPrevented);
  assert.ok(!press(root.one(".sd-slider"), "ArrowRight").defaultPrevented);
  assert.ok(!press(root.one("[data-do=step]"), " ").defaultPrevented);
  assert.equal(player.position(), 0);
});

test("space plays and pauses; a recorded run plays by itself unless less motion is asked for", () => {
  const frames = [];
  const clock = { now: () => 0, request: (callback) => frames.push(callback), cancel: () => frames.splice(0) };
  const { root } = open(text("greedy"), { clock });
  press(root.one(".sd-stage"), " ");
  assert.equal(frames.length, 1);
  press(root.one(".sd-stage"), " ");
  assert.equal(frames.length, 0);
  open(text("greedy"), { clock, autoplay: true });
  assert.equal(frames.length, 1);
  frames.length = 0;
  open(text("greedy"), { clock, autoplay: true, reduced: true });
  assert.equal(frames.length, 0);
  open(long(12, "live"), { clock, autoplay: true });
  assert.equal(frames.length, 0);
});

test("a live run is followed, left by scrubbing, and found again by its button", () => {
  const ndjson = long(60, "live");
  const half = ndjson.lastIndexOf("\n", ndjson.length / 2) + 1;
  const { root, player } = open(ndjson.slice(0, half));
  assert.equal(player.position(), player.last());
  assert.equal(root.one("[data-do=live]"), null);
  player.seek(4);
  player.feed(ndjson.slice(0, half + 9000));
  assert.equal(player.position(), 4);
  root.one("[data-do=live]").focus();
  click(root, "[data-do=live]");
  assert.equal(player.position(), player.last());
  assert.equal(focused(root), "toggle");
  assert.equal(root.one(".sd-badge").textContent, "live");
  assert.equal(said(root), "");
  player.feed(ndjson);
  assert.match(said(root), /^Round \d+: /);
});

test("a run that has played to its end is said, and nothing is said of its start", () => {
  const frames = [];
  const clock = { now: () => 1e9 * frames.length, request: (frame) => frames.push(frame), cancel: () => {} };
  const { root, player } = open(text("greedy"), { clock });
  player.play();
  for (let i = 0; player.playing(); i++) {
    assert.equal(said(root), "");
    frames[i]();
  }
  assert.match(said(root), /^Round \d+: /);
  click(root, "[data-do=first]");
  assert.equal(said(root), "");
});

test("choosing a token tells the page, moves the inspector and survives a step back and forth", () => {
  const chosen = [];
  const { root, player } = open(text("sampled"), { onSelect: (selection) => chosen.push(selection) });
  player.seek(player.last());
  const first = root.one(".sd-inspected").textContent;
  click(root, ".sd-text .sd-token, .sd-token", 0);
  root.one(".sd-text-body").all(".sd-token")[5].send("click");
  assert.equal(chosen.at(-1).lane, "speculative");
  assert.notEqual(root.one(".sd-inspected").textContent, first);
  const seen = root.one(".sd-inspected").textContent;
  player.seek(0);
  assert.equal(root.one(".sd-inspected"), null);
  player.seek(player.last());
  assert.equal(root.one(".sd-inspected").textContent, seen);
  click(root, "[data-do=next-token]");
  assert.notEqual(root.one(".sd-inspected").textContent, seen);
  click(root, "[data-do=previous-token]");
  assert.equal(root.one(".sd-inspected").textContent, seen);
});

test("another language is written in place: same position, same choices, no English left", () => {
  const { root, player } = open(text("sampled"));
  player.seek(11);
  click(root, "[data-do=more]");
  click(root, "[data-do=walk]");
  player.setLanguage("zh-Hans-CN");
  assert.equal(player.position(), 11);
  assert.equal(root.getAttribute("lang"), "zh");
  const inChinese = markup(root);
  player.setLanguage("en");
  const names = /SmolLM2|bfloat16|laptop|CPU|token|KV|vLLM|def verify|pass\b/;
  const words = inChinese
    .replace(/<ol class="sd-rows">.*?<\/ol>/, "")
    .replace(/<[^>]+>/g, "\n")
    .split("\n")
    .filter((piece) => /[A-Za-z]{4,}/.test(piece) && !names.test(piece));
  const model = new Set(
    text("sampled")
      .match(/"\d+":\["([^"]*)"/g)
      .map((match) => match.split('"')[3].trim()),
  );
  const quoted = (piece) => /^[“␣]/.test(piece.trim()) || model.has(piece.trim()) || /“/.test(piece);
  assert.deepEqual(
    words.filter((piece) => !quoted(piece) && piece.trim() !== "draft model"),
    [],
  );
  const fresh = open(text("sampled"));
  fresh.player.seek(11);
  click(fresh.root, "[data-do=more]");
  click(fresh.root, "[data-do=walk]");
  assert.equal(markup(root), markup(fresh.root));
});

test("cards open their definition and close again", () => {
  const { root, player } = open(text("greedy"));
  player.seek(player.last());
  assert.equal(root.all(".sd-card").length, 4);
  click(root, "[data-do=more]");
  assert.ok(root.all(".sd-card").length > 10);
  click(root, "[data-card=drafted]");
  assert.match(root.one(".sd-definition").textContent, /vLLM.*Avg Draft acceptance rate/);
  root.one(".sd-close").focus();
  click(root, ".sd-close");
  assert.equal(root.one(".sd-definition"), null);
  assert.equal(root.ownerDocument.activeElement, root.one("[data-card=drafted]"));
});

test("the walk goes through the round stage by stage", () => {
  const { root, player } = open(text("greedy"));
  player.seek(10);
  root.one("[data-do=walk]").focus();
  click(root, "[data-do=walk]");
  assert.equal(focused(root), "walk");
  const said = [root.one(".sd-stage-said").textContent];
  for (let i = 0; i < 12; i++) {
    click(root, "[data-do=walk-step]");
    said.push(root.one(".sd-stage-said").textContent);
  }
  assert.ok(new Set(said).size >= 6);
  assert.equal(root.one(".sd-now").textContent, "6roll back");
  click(root, "[data-do=walk]");
  assert.equal(root.one(".sd-stage-view"), null);
  assert.equal(focused(root), "walk");
});

test("for a projector numbers stay covered until asked for", () => {
  const { root, player } = open(text("greedy"), { view: "present" });
  player.seek(player.last());
  assert.equal(root.one(".sd-big").textContent, "?");
  assert.equal(root.all("button").filter((button) => !button.classList.contains("sd-cell")).length, 0);
  press(root.one(".sd-stage"), "Enter");
  assert.match(root.one(".sd-big").textContent, /^\d\.\d×$/);
  for (let i = 0; i < 5; i++) press(root.one(".sd-stage"), " ");
  assert.equal(root.all(".sd-covered").length, 0);
  press(root.one(".sd-stage"), "ArrowLeft");
  assert.equal(player.position(), player.last() - 1);
});

test("another run in the same player starts clean; an empty value changes nothing", () => {
  const { root, player } = open(text("greedy"));
  player.seek(player.last());
  player.feed(text("bytes"));
  assert.equal(player.position(), 0);
  const fresh = open(text("bytes"));
  assert.equal(markup(root), markup(fresh.root));
  player.feed("");
  player.feed(undefined);
});

test("two players on a page know nothing of each other, and a destroyed one leaves nothing", () => {
  const [one, other] = [open(text("greedy")), open(text("bytes"))];
  one.player.seek(9);
  other.player.seek(3);
  assert.deepEqual([one.player.position(), other.player.position()], [9, 3]);
  one.player.destroy();
  assert.deepEqual([one.root.childNodes.length, one.root.listeners.length], [0, 0]);
  other.player.seek(5);
  assert.equal(other.player.position(), 5);
});

test("nothing on the page has an id", () => {
  const { root, player } = open(text("three"));
  player.seek(player.last());
  assert.doesNotMatch(markup(root), / id="/);
});

test("two thousand tokens: a feed of eight tokens and a jump stay quick", () => {
  const ndjson = long(2000, "live");
  const cut = ndjson.lastIndexOf("\n", ndjson.length * 0.99) + 1;
  const { player } = open(ndjson.slice(0, cut));
  const start = performance.now();
  player.feed(ndjson);
  player.seek(500);
  // Loose, for slow machines; a page that is built anew at every update takes hundreds of milliseconds here.
  assert.ok(performance.now() - start < 1000);
});
