// An attendee's page: the player stands where the presenter stands, until its reader takes it into their own hands.

import { h, patch } from "../player/dom.js";
import { question } from "./ask.js";
import { board } from "./board.js";
import { askForCode, base, parts, sentence } from "./page.js";
import { Stand, hands } from "./stand.js";
import { Try } from "./try.js";
import { attendee, Wire } from "./wire.js";

const MINE = "specdemo-points";

/** page: the handle of the player's page. given: {code, texts, drafters, prompts, most}. */
export function start(page, given) {
  return new Follow(page, given);
}

class Follow {
  constructor(page, given) {
    Object.assign(this, parts(given, () => this.draw()), { page, state: null, words: null, choice: null, points: [], problem: null });
    this.view = "class";
    this.following = true;
    this.linked = false;
    this.mine = new Set(this.kept());
    document.body.classList.add("ws-attendee");
    if (!given.code) return askForCode(this.above, this.say, () => (base().endsWith("/w") ? null : this.say("code_wrong")));
    this.wire = new Wire(base(), "", attendee(safeStore()));
    this.stand = new Stand(page, (id) => this.wire.text(`traces/${id}`));
    this.try = new Try({ page, wire: this.wire, say: this.say, drafters: given.drafters, prompts: given.prompts, most: given.most.attendee, redraw: () => this.draw(), done: (text, run) => this.ran(run) });
    hands(document.getElementById("stage"), false, () => this.view === "class" && this.leave());
    for (const node of [this.above, this.below]) {
      node.addEventListener("click", (event) => this.clicked(event.target.closest("[data-do], [data-vote], [data-view]")));
      node.addEventListener("submit", (event) => this.submitted(event));
      for (const name of ["change", "input"]) node.addEventListener(name, (event) => event.target.closest(".ws-try") && this.try.changed(event.target));
    }
    window.addEventListener("resize", () => this.view === "board" && this.draw());
    this.draw();
    this.wire.listen({ state: (state) => this.heard(state), link: (linked) => this.link(linked), gone: (error) => this.gone(error) });
  }

  kept() {
    try {
      return JSON.parse(window.localStorage.getItem(`${MINE} ${base()}`) ?? "[]");
    } catch {
      return [];
    }
  }

  link(linked) {
    if (linked === this.linked) return;
    this.linked = linked;
    this.draw();
  }

  gone(error) {
    askForCode(this.above, this.say, () => sentence(error, this.say));
    patch(this.below, []);
  }

  heard(state) {
    const before = this.state;
    this.state = state;
    const asked = state.question;
    if (asked && asked.id !== before?.question?.id) this.ask(asked.id);
    if (state.last_point !== (before?.last_point ?? 0)) this.fetchPoints();
    if (this.following && state.view !== before?.view) this.turnTo(state.view);
    if (this.following && this.view === "class") this.goThere();
    if (this.view === "try" && !state.live && !this.try.running) this.view = "class";
    this.draw();
  }

  // While a run of one's own is on or being set up, nobody is taken away from it.
  turnTo(view) {
    if (this.view === "try") return;
    this.view = view === "board" ? "board" : "class";
  }

  async goThere() {
    try {
      await this.stand.go(this.state);
      this.problem = null;
    } catch (error) {
      this.problem = error;
    }
    this.draw();
  }

  async ask(id) {
    Object.assign(this, { words: null, choice: null });
    try {
      const [words, { choice }] = await Promise.all([this.wire.get(`questions/${id}`), this.wire.get("state")]);
      if (this.state.question?.id === id) Object.assign(this, { words, choice: choice ?? null });
    } catch (error) {
      this.problem = error;
    }
    this.draw();
  }

  async vote(choice) {
    const before = this.choice;
    this.choice = choice;
    this.draw();
    try {
      await this.wire.post("vote", { question: this.state.question.id, choice });
      this.problem = null;
    } catch (error) {
      Object.assign(this, { choice: before, problem: error });
    }
    this.draw();
  }

  async fetchPoints() {
    if (this.fetching) return;
    this.fetching = true;
    // Forty pages at once would ask for the same point: each waits a moment of its own.
    await new Promise((go) => window.setTimeout(go, 300 * Math.random()));
    this.fetching = false;
    const after = this.points.at(-1)?.id ?? 0;
    if ((this.state?.last_point ?? 0) < after) this.points = [];
    try {
      const more = await this.wire.get(`board?after=${this.points.at(-1)?.id ?? 0}`);
      this.points = [...this.points, ...more.filter(({ id }) => id > (this.points.at(-1)?.id ?? 0))];
    } catch (error) {
      this.problem = error;
    }
    this.draw();
  }

  ran(run) {
    if (run.note?.point) {
      this.mine.add(run.note.point);
      try {
        window.localStorage.setItem(`${MINE} ${base()}`, JSON.stringify([...this.mine]));
      } catch {
        // A browser that keeps nothing marks one's own points until the page is closed.
      }
    }
    this.draw();
  }

  leave() {
    if (!this.following || this.stand.moving) return;
    this.following = false;
    this.draw();
  }

  back() {
    this.following = true;
    this.view = this.state?.view === "board" ? "board" : "class";
    if (this.view === "class") this.goThere();
    this.draw();
  }

  clicked(node) {
    if (!node) return;
    const { vote, view } = node.dataset;
    if (vote !== undefined) this.vote(Number(vote));
    else if (view) this.choose(view);
    else if (node.dataset.do === "back") this.back();
    else if (node.dataset.do === "stop") this.try.stop();
  }

  choose(view) {
    this.view = view;
    if (view === "try") this.stand.trace = null;
    if (view === "class" && this.following) this.goThere();
    if (view === "board") this.fetchPoints();
    this.draw();
  }

  submitted(event) {
    if (event.target.dataset.do !== "run") return;
    event.preventDefault();
    this.try.start();
  }

  draw() {
    if (!this.wire || document.body.classList.contains("ws-lost")) return;
    const { say, state, view } = this;
    const playing = view === "class" ? state?.trace : view === "try" && this.try.text;
    document.body.classList.toggle("ws-still", !playing);
    document.body.classList.toggle("ws-veiled", view === "class" && this.following && Boolean(state?.question?.open));
    patch(this.above, [
      this.bar(),
      this.problem ? h("p", { class: "ws-problem", role: "alert" }, sentence(this.problem, say)) : null,
      view === "board" ? null : question({ asked: state?.question, words: this.words, choice: this.choice, say, votes: true }),
      view === "class" && !state?.trace ? h("p", { class: "ws-wait" }, say(state ? "not_yet" : "joining")) : null,
      view === "try" ? this.try.view((error) => sentence(error, say)) : null,
    ].filter(Boolean));
    patch(this.below, view === "board" ? [board({ points: this.points, mine: this.mine, ...this.size(), say })] : []);
  }

  size() {
    const width = Math.max(300, this.below.clientWidth - 24);
    return { width, height: Math.round(Math.min(560, Math.max(300, 0.62 * width))) };
  }

  bar() {
    const { say, state, view } = this;
    const tabs = ["class", "board", ...(state?.live ? ["try"] : [])];
    return h(
      "div",
      { class: "ws-bar" },
      h("nav", { class: "ws-tabs", "aria-label": say("parts") }, tabs.map((name) => h("button", { type: "button", "data-view": name, "aria-current": name === view ? "page" : null }, say(`tab_${name}`)))),
      this.standing(),
    );
  }

  standing() {
    const { say } = this;
    if (!this.linked) return h("p", { class: "ws-link ws-off", role: "status" }, say("reconnecting"));
    if (this.following) return h("p", { class: "ws-link ws-on", role: "status" }, say("following"));
    return h("button", { type: "button", class: "ws-button ws-main", "data-do": "back" }, say("back"));
  }
}

function safeStore() {
  try {
    return window.localStorage;
  } catch {
    return null;
  }
}
