// The player: one closure per instance that holds stream, timeline, position and choices, and draws them.
// A page is a pure function of these; nothing is kept in the DOM, nothing is global.

import { Charts } from "./charts.js";
import { frames, reducesMotion } from "./clock.js";
import { raceAt } from "./compare.js";
import { patch } from "./dom.js";
import { fateWord, quoted } from "./facts.js";
import { firstRejected, inspect } from "./inspector.js";
import { dataOf, keyAction, selectionOf } from "./keys.js";
import { translator } from "./labels.js";
import { LaneText } from "./lane-text.js";
import { fullPage, speaker } from "./page.js";
import { present } from "./present.js";
import { RoundList } from "./rounds.js";
import { Timeline, stateAt } from "./state.js";
import { Stream } from "./stream.js";
import { themeOf, watchTheme } from "./theme.js";
import { neighbourOf, slots } from "./tokens.js";
import { Transport, comfortableSpeed } from "./transport.js";
import { stagesOf } from "./walk.js";

const ROWS = 12;
const MORE_ROWS = 50;
const SPOKEN = ["first", "back", "step", "last", "round"];
// Where the focus goes when the button of an action goes away with it.
const HEIRS = {
  live: () => "[data-do=toggle]",
  rows: () => ".sd-rows-box",
  card: ({ card }) => `[data-card=${card}]`,
};

/**
 * Makes `root` a player and returns its handle {feed, more, setLanguage, setTheme, position, last, seek, play, pause,
 * playing, setSpeed, speed, revealed, rounds, text, goToRound, select, showScene, destroy}.
 *
 * options.strings: {en: {...}, zh: {...}}, the locale tables. options.lang: a language tag. options.view: "full" or
 * "present". options.autoplay: play a recorded run at once (default true; never under prefers-reduced-motion).
 * options.speed: 0.25 … 4, by default slow enough to watch. options.verify_source: the text of `verify`.
 * options.clock: {now, request, cancel}. options.uPlot: the chart library, by default the one in scope.
 * options.onSelect({lane, round, slot}), options.onPosition(position): called after the reader's choices and moves.
 */
export function mount(root, options = {}) {
  const document = root.ownerDocument;
  const window = document.defaultView;
  const t = translator(options.strings || {}, options.lang);
  const clock = options.clock || frames(window);
  const transport = new Transport(
    clock,
    () => draw(),
    () => say(),
  );
  const stream = new Stream();
  const texts = new Map();
  const rounds = new RoundList(document);
  const charts = new Charts(root, options.uPlot || (typeof uPlot === "undefined" ? null : uPlot));
  const presenting = options.view === "present";
  const ui = {
    ghosts: "current",
    chosen: null,
    selected: null,
    focus: null,
    card: null,
    more: false,
    rows: ROWS,
    walk: false,
    stage: 0,
    revealed: 0,
    said: "",
    scene: null,
  };
  let timeline = new Timeline();
  let model = null;
  let wantsPlay = false;

  root.classList.add("sd-root");
  root.classList.toggle("sd-root-present", presenting);
  const listeners = [
    [root, "click", (event) => click(event)],
    [
      root,
      "input",
      (event) => event.target.classList.contains("sd-slider") && transport.seek(Number(event.target.value)),
    ],
    [
      root,
      "change",
      (event) => event.target.getAttribute("data-change") === "speed" && transport.setSpeed(Number(event.target.value)),
    ],
    [root, "keydown", (event) => key(event)],
  ];
  for (const [node, name, listener] of listeners) node.addEventListener(name, listener);
  const unwatch = watchTheme(root, () => {
    root.setAttribute("data-theme", themeOf(root));
    charts.recolour();
  });
  const resize = window?.ResizeObserver ? new window.ResizeObserver(() => resized()) : null;
  resize?.observe(root);

  function resized() {
    if (charts.measure() && !presenting) charts.update(model);
  }

  function draw() {
    const state = stateAt(timeline, transport.position);
    const race = raceAt(state, ui.focus);
    ui.selected = selectionAt(state, race);
    model = {
      t,
      state,
      race,
      timeline,
      ui,
      transport,
      header: timeline.header,
      greedy: Boolean(race.speculative?.lane.started.greedy ?? timeline.header?.settings?.sampling?.temperature === 0),
    };
    for (const lane of state.lanes)
      text(lane.lane).update(lane, ui.ghosts, ui.selected?.lane === lane.lane.name ? ui.selected : null, timeline);
    rounds.update(race.speculative, ui.rows, timeline, t);
    patch(root, [view(), speaker(model)]);
    if (!presenting) charts.update(model);
    options.onPosition?.(state.position);
  }

  function view() {
    if (presenting) return present(model, textNode);
    const source = options.verify_source || null;
    return fullPage(model, { textNode, rounds: rounds.node, charts: charts.view(model), source });
  }

  function text(lane) {
    if (!texts.has(lane)) texts.set(lane, new LaneText(document));
    return texts.get(lane);
  }

  function textNode(lane) {
    return text(lane).node;
  }

  // The reader's choice where it exists yet, else the first token that failed its test.
  function selectionAt(state, race) {
    if (inspect(state, ui.chosen, timeline)) return ui.chosen;
    return firstRejected(race.speculative);
  }

  function say() {
    const round = model.race.speculative?.round;
    if (!round) return set({ said: "" });
    const kept = slots(round, timeline).filter(({ fate }) => fate !== "rejected" && fate !== "discarded");
    const words = kept.map(({ string, fate }) => `${quoted(string)} ${fateWord(fate, model.greedy, t)}`).join(", ");
    set({ said: t("speak.round", { number: round.number, tokens: words }) });
  }

  function select(selection) {
    ui.chosen = selection;
    draw();
    options.onSelect?.(selection);
  }

  function neighbour(by) {
    const found = ui.selected && neighbourOf(model.state, ui.selected, by, timeline);
    if (found) select(found);
  }

  function stepWalk(by) {
    const round = model.race.speculative?.round;
    if (round)
      setStage(Math.max(0, Math.min(stagesOf(round).length - 1, Math.min(ui.stage, stagesOf(round).length - 1) + by)));
  }

  function setStage(stage) {
    ui.stage = stage;
    draw();
  }

  function reveal() {
    if (transport.position === 0 && !transport.playing) transport.play();
    else ui.revealed += 1;
    draw();
  }

  function set(changes) {
    Object.assign(ui, changes);
    draw();
  }

  const actions = {
    first: () => transport.seek(0),
    back: () => transport.step(-1),
    toggle: () => transport.toggle(),
    step: () => transport.step(1),
    last: () => transport.seek(transport.last),
    live: () => transport.toLive(),
    ghosts: (data) => set({ ghosts: data.ghosts }),
    focus: (data) => set({ focus: data.lane, chosen: null }),
    select: (data, node) => select(selectionOf(data, node)),
    round: (data) => goTo(Number(data.round)),
    rows: () => set({ rows: ui.rows + MORE_ROWS }),
    card: (data) => set({ card: ui.card === data.card ? null : data.card }),
    more: () => set({ more: !ui.more }),
    walk: () => {
      transport.pause();
      set({ walk: !ui.walk, stage: 0 });
    },
    stage: (data) => Number(data.stage) >= 0 && setStage(Number(data.stage)),
    "walk-back": () => stepWalk(-1),
    "walk-step": () => stepWalk(1),
    "previous-token": () => neighbour(-1),
    "next-token": () => neighbour(1),
    reveal,
  };

  function goTo(number) {
    const round = model.race.speculative?.lane.rounds[number - 1];
    if (round) transport.seek(timeline.positionOf(round.step));
  }

  function click(event) {
    const node = event.target.closest("[data-do]");
    if (!node || !root.contains(node) || node.getAttribute("aria-disabled") === "true") return;
    if (presenting && event.target.closest(".sd-scene")) return;
    const name = presenting ? "reveal" : node.getAttribute("data-do");
    const data = dataOf(node);
    actions[name]?.(data, node);
    if (!root.contains(node) && HEIRS[name]) root.querySelector(HEIRS[name](data))?.focus();
    if (SPOKEN.includes(name)) say();
  }

  function key(event) {
    const name = keyAction(event, presenting);
    if (!name) return;
    event.preventDefault();
    actions[name]({}, event.target);
    if (SPOKEN.includes(name)) say();
  }

  function start(header) {
    timeline = new Timeline(header);
    texts.clear();
    transport.restart(timeline);
    Object.assign(ui, { chosen: null, focus: null, rows: ROWS, walk: false, stage: 0, revealed: 0, said: "" });
    wantsPlay = options.autoplay !== false && header.kind !== "live" && !reducesMotion(window);
  }

  function take({ fresh, header, records }) {
    if (fresh && header) start(header);
    if (!header || (!fresh && records.length === 0)) {
      if (!model) draw();
      return;
    }
    timeline.append(records);
    if (fresh)
      transport.speed =
        options.speed ?? (header.kind === "live" ? 1 : comfortableSpeed(timeline.steps.at(-1)?.clock ?? 0));
    transport.grown();
    if (wantsPlay && transport.last > 0) {
      wantsPlay = false;
      transport.play();
    } else {
      draw();
    }
    if (transport.following && timeline.finished) say();
  }

  const handle = {
    /** Takes in the whole append-only text so far. */
    feed: (ndjson) => take(stream.read(ndjson || "")),
    /** Takes in whole lines that follow what was fed. */
    more: (ndjson) => take(stream.more(ndjson)),
    /** Rewrites every text in place; position and choices stay. */
    setLanguage(language) {
      t.setLanguage(language);
      root.setAttribute("lang", t.language);
      ui.said = "";
      draw();
    },
    /** "light", "dark", or null to follow the page. */
    setTheme(theme) {
      if (theme) root.setAttribute("data-theme-chosen", theme);
      else root.removeAttribute("data-theme-chosen");
      root.setAttribute("data-theme", themeOf(root));
      charts.recolour();
    },
    position: () => transport.position,
    last: () => transport.last,
    seek: (position) => transport.seek(position),
    play: () => transport.play(),
    pause: () => transport.pause(),
    setSpeed: (speed) => transport.setSpeed(speed),
    playing: () => transport.playing,
    speed: () => transport.speed,
    /** How many numbers a projector shows; with a number, shows so many. */
    revealed: (count = ui.revealed) => (count === ui.revealed ? count : (set({ revealed: count }), count)),
    /** The rounds of the chosen lane that the stream has told of. */
    rounds: () => model.race.speculative?.lane.rounds ?? [],
    /** The text of the chosen lane at this position; all that there is while nothing is shown yet. */
    text() {
      const { lane, tokens } = model.race.speculative ?? {};
      return (lane?.tokens.slice(0, tokens || undefined) ?? []).map(({ piece }) => piece).join("");
    },
    /** Stand just after a round of the chosen lane. */
    goToRound: goTo,
    /** Puts a token under the glass: {lane, round, slot}. */
    select,
    /** Draws `scene(model)`, a list of descriptions, over the lanes, without moving anything; null takes it away. */
    showScene: (scene) => set({ scene }),
    destroy() {
      transport.stop();
      resize?.disconnect();
      unwatch();
      charts.destroy();
      for (const [node, name, listener] of listeners) node.removeEventListener(name, listener);
      root.classList.remove("sd-root", "sd-root-present");
      patch(root, []);
    },
  };
  root.setAttribute("data-theme", themeOf(root));
  root.setAttribute("lang", t.language);
  draw();
  charts.measure();
  return handle;
}
