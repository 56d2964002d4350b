// The presenter's page: a projector's view of the run, and a bar that leads the class.

import { reducesMotion } from "../player/clock.js";
import { h, patch } from "../player/dom.js";
import { choose, save } from "../page/files.js";
import { bar, overlay } from "./lead-view.js";
import { askForCode, base, parts, sentence } from "./page.js";
import { Post } from "./post.js";
import { answer, own, ready } from "./questions.js";
import { Stand, hands } from "./stand.js";
import { Teacher } from "./teach.js";
import { Try } from "./try.js";
import { Wire } from "./wire.js";
import { words } from "./words.js";

const TAB = "specdemo-tab";
const KEPT = "specdemo-workshop";
const MOVES = ["trace", "step", "speed", "revealed", "scene", "by"];
const LOOPBACK = /^(localhost|127\.|\[::1\]|0\.0\.0\.0)/;

/** page: the handle of the player's page. given: {code, texts, drafters, prompts, most, lessons}. */
export function start(page, given) {
  return new Lead(page, given);
}

class Lead {
  constructor(page, given) {
    Object.assign(this, parts(given, () => this.draw()), { page, given, state: null, asked: null, points: [], problem: null, panel: null, over: null });
    Object.assign(this, { shipped: [], address: "", leading: false, told: {}, linked: false, picked: null, known: 0 });
    document.body.classList.add("ws-presenter");
    const secret = decodeURIComponent(window.location.hash.slice(1));
    if (!given.code) return askForCode(this.above, this.say, () => this.say("code_wrong"));
    this.languages = Object.fromEntries(Object.keys(given.texts).map((lang) => [lang, words(given.texts, () => lang)]));
    this.wire = new Wire(base(), secret || "none", "");
    this.tab = tabName();
    this.post = new Post(this.wire, this.tab, (error) => this.failed(error), (state) => this.settled(state));
    this.stand = new Stand(page, (id) => this.wire.text(`traces/${id}`));
    this.teacher = new Teacher(this, given.lessons, given.texts);
    this.try = new Try({ page, wire: this.wire, say: this.say, drafters: given.drafters, prompts: given.prompts, most: given.most.presenter, redraw: () => this.draw(), done: (text) => this.ran(text) });
    this.begin(secret);
  }

  async begin(secret) {
    try {
      const { shipped, public: known, local, code } = await this.wire.get("state");
      this.shipped = shipped;
      const found = local && LOOPBACK.test(window.location.host) ? local : window.location.origin;
      this.address = known ? `${known}/w/${code}` : found + base();
      this.remember(secret, code);
      this.teacher.restore();
    } catch (error) {
      return this.lost(error);
    }
    this.listenToHands();
    this.page.subscribe(() => this.moved());
    this.wire.listen({ state: (state) => this.heard(state), link: (linked) => this.link(linked), gone: (error) => this.lost(error) });
  }

  // The main page of the same server finds here where to send a run.
  remember(secret, code) {
    try {
      window.localStorage.setItem(KEPT, JSON.stringify({ code, secret, base: base() }));
    } catch {
      // Without it runs come by file.
    }
  }

  lost(error) {
    document.body.classList.add("ws-lost");
    this.over = error;
    patch(this.below, []);
    this.draw();
  }

  listenToHands() {
    hands(document.getElementById("stage"), true, () => this.takeOver());
    for (const node of [this.above, this.below]) {
      node.addEventListener("click", (event) => this.clicked(event.target.closest("[data-do], [data-ask], [data-pick]")));
      node.addEventListener("submit", (event) => this.submitted(event));
      node.addEventListener("change", (event) => this.changed(event.target));
      for (const name of ["change", "input"]) node.addEventListener(name, (event) => event.target.closest(".ws-try") && this.try.changed(event.target));
    }
    document.addEventListener("keydown", (event) => this.key(event), true);
    window.addEventListener("resize", () => this.draw());
  }

  // Escape would leave the projector's view; here it closes what lies over the stage.
  key(event) {
    if (event.key !== "Escape") return;
    event.stopPropagation();
    this.panel = null;
    if (this.state?.view !== "run") this.view("run");
    this.draw();
  }

  failed(error) {
    if (error?.key === "workshop_other_tab") {
      this.leading = false;
      this.post.drop();
      this.stand.quietly(() => this.page.player.pause());
      return this.stand.go(this.state);
    }
    if (error !== this.problem) this.problem = error;
    this.draw();
    return undefined;
  }

  link(linked) {
    if (linked === this.linked) return;
    this.linked = linked;
    if (!linked) this.known = 0; // a server that begins anew counts anew
    this.draw();
  }

  async heard(state) {
    const before = this.state;
    this.state = state;
    if (state.question && state.question.id !== before?.question?.id) this.fetchQuestion(state.question.id);
    if (!state.question) this.asked = null;
    if (state.last_point !== (before?.last_point ?? 0)) this.fetchPoints();
    if (this.isElsewhere(before)) {
      this.leading = state.by === this.tab;
      await this.stand.go(state).catch((error) => this.failed(error));
    }
    this.draw();
  }

  // The server knows a move of this tab. Another tab may have moved since, and that may have been told before this.
  settled(state) {
    this.known = state.number;
    const latest = this.state.number > state.number ? this.state : state;
    if (latest.by === this.tab) return;
    Object.assign(this, { state: latest, leading: false });
    this.stand.go(latest).catch((error) => this.failed(error));
    this.draw();
  }

  // True where the class stands by another tab's doing, or by this one's while it followed another. What was told before
  // a move of this tab arrived is old; what changes no place (a vote, a page that joins) moves nobody.
  isElsewhere(before) {
    if (!before) return true;
    if (this.post.pending || this.try.running || this.state.number < this.known) return false;
    const moved = MOVES.some((name) => this.state[name] !== before[name]);
    return moved && !(this.leading && this.state.by === this.tab);
  }

  async fetchQuestion(id) {
    this.picked = null;
    this.asked = await this.wire.get(`questions/${id}`).catch(() => null);
    this.draw();
  }

  async fetchPoints() {
    const found = await this.wire.get("board").catch(() => null);
    if (found) this.points = found;
    this.draw();
  }

  /** From now on the class follows this tab. */
  lead() {
    this.leading = true;
    this.told = {}; // so that the next move is told as one of this tab's own, whatever played before
  }

  /** The presenter moves by hand: a lesson no longer leads, and its scene gives way to the run. */
  takeOver() {
    this.lead();
    this.teacher.leave();
    if (!this.stand.scene) return;
    this.stand.show("");
    this.post.change({ scene: "" });
  }

  // Called at every move of the player, whoever made it.
  moved() {
    this.drawBar();
    if (this.stand.moving || !this.leading || !this.stand.trace) return;
    const { player } = this.page;
    const now = { trace: this.stand.trace, step: player.position(), speed: player.playing() ? player.speed() : 0, revealed: player.revealed() };
    const before = this.told;
    if (["trace", "step", "speed", "revealed"].every((name) => now[name] === before[name])) return;
    this.told = now;
    const on = now.speed > 0 && before.speed === now.speed && before.trace === now.trace && before.revealed === now.revealed;
    this.post.change(now, on);
  }

  /** Shows a run to the class from its start. */
  async show(id, play = false) {
    this.lead();
    this.teacher.leave();
    const place = { trace: id, step: 0, speed: 0, revealed: 0, scene: "", view: "run" };
    this.panel = null;
    this.told = {};
    try {
      await this.stand.go(place);
      this.post.change(place);
      if (play && !reducesMotion(window)) this.page.player.play();
    } catch (error) {
      this.failed(error);
    }
    this.draw();
  }

  view(view) {
    this.lead();
    this.panel = null;
    this.post.change({ view });
    this.state = { ...this.state, view };
    this.draw();
  }

  async act(path, value = {}) {
    try {
      await this.wire.post(path, value);
      this.problem = null;
    } catch (error) {
      this.problem = error;
    }
    this.draw();
  }

  // --- questions --------------------------------------------------------------------------------------------------

  async ask(kind) {
    const text = this.stand.trace && (await this.stand.text(this.stand.trace));
    this.panel = null;
    await this.act("ask", ready(kind, text, this.languages));
  }

  async reveal() {
    const kind = this.asked?.kind ?? "own";
    const text = this.stand.trace && (await this.stand.text(this.stand.trace));
    const right = this.picked ?? (await this.teacher.answer(kind)) ?? answer(kind, text);
    await this.act("reveal", { question: this.state.question.id, answer: right });
  }

  // --- runs -------------------------------------------------------------------------------------------------------

  async ran(text) {
    const { titles } = this.given.prompts.find(({ id }) => id === this.try.values.preset) ?? {};
    const { drafter, gamma, temperature } = this.try.values;
    await this.keep(text, `${titles?.en ?? ""} · ${drafter}, γ ${gamma}, T ${temperature}`);
  }

  async keep(text, title) {
    try {
      const { id } = await (await this.wire.answer(`traces?title=${encodeURIComponent(title)}`, { method: "POST", body: text })).json();
      this.stand.texts.set(id, Promise.resolve(text));
      await this.show(id, true);
    } catch (error) {
      this.failed(error);
    }
  }

  async open() {
    const file = await choose(".jsonl,.json,.txt");
    await this.keep(await file.text(), file.name.replace(/\.\w+$/, ""));
  }

  // --- what was clicked -------------------------------------------------------------------------------------------

  clicked(node) {
    if (!node || node.matches("form")) return;
    const { ask, pick } = node.dataset;
    if (ask) this.ask(ask);
    else if (pick) this.picked = Number(pick);
    else this[`do_${node.dataset.do}`]?.(node);
    this.draw();
  }

  changed({ name, value, checked }) {
    if (name === "trace" && value) this.show(value);
    if (name === "lesson") this.teacher.choose(value);
    if (name === "live") this.post.change({ live: checked });
  }

  async submitted(event) {
    event.preventDefault();
    const form = event.target;
    if (form.dataset.do === "run") {
      this.stand.trace = null;
      this.panel = "watch";
      await this.try.start();
    } else if (form.dataset.do === "ask") {
      this.panel = null;
      await this.act("ask", own(form.elements.text.value, form.elements.options.value, this.page.language()));
    }
    this.draw();
  }

  player(act) {
    this.takeOver();
    act(this.page.player);
    this.moved();
  }

  do_first = () => this.player((player) => player.seek(0));
  do_back = () => this.player((player) => player.seek(player.position() - 1));
  do_step = () => this.player((player) => player.seek(player.position() + 1));
  do_last = () => this.player((player) => player.seek(player.last()));
  do_toggle = () => this.player((player) => (player.playing() ? player.pause() : player.play()));
  do_reveal = () => this.player((player) => player.revealed(player.revealed() + 1));
  do_next = () => this.teacher.next();
  do_join = () => this.view(this.state.view === "join" ? "run" : "join");
  do_board = () => this.view(this.state.view === "board" ? "run" : "board");
  do_question = () => {
    if (this.state.question) this.view(this.state.view === "question" ? "run" : "question");
    else this.panel = this.panel === "ask" ? null : "ask";
  };
  do_run = () => (this.panel = this.panel === "run" ? null : "run");
  do_more = () => (this.panel = this.panel === "more" ? null : "more");
  do_close = () => {
    this.panel = null;
    if (this.state.view !== "run") this.view("run");
  };
  do_answer = () => this.reveal();
  do_dismiss = () => this.act("dismiss");
  do_open = () => this.open();
  do_stop = () => this.try.stop();
  do_csv = async () => save(`specdemo-board-${this.state.code}.csv`, await this.wire.text("board.csv"), "text/csv");
  do_anew = async () => {
    if (!window.confirm(this.say("anew_sure"))) return;
    const { code } = await this.wire.post("anew", { forget: this.state.code });
    window.location.assign(`${base().replace(/[^/]+$/, code)}${window.location.search}${window.location.hash}`);
  };

  // --- drawing ----------------------------------------------------------------------------------------------------

  draw() {
    const said = (error) => sentence(error, this.say);
    if (this.over) patch(this.above, [h("p", { class: "ws-problem ws-alone", role: "alert" }, said(this.over))]);
    if (!this.state || this.over) return;
    const over = overlay(this, said);
    patch(this.above, over ? [h("section", { class: "ws-over" }, over)] : []);
    this.drawBar();
  }

  drawBar() {
    if (this.state && !this.over) patch(this.below, [bar(this)]);
  }
}

// A reload keeps the tab's name, a copy of the tab gets its own.
function tabName() {
  const [visit] = window.performance.getEntriesByType("navigation");
  const kept = visit?.type === "reload" ? window.sessionStorage.getItem(TAB) : null;
  const name = kept ?? `tab-${Math.random().toString(36).slice(2, 12)}`;
  window.sessionStorage.setItem(TAB, name);
  return name;
}
