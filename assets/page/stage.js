// The player with a bar of runs above it: recorded ones, the visitor's own, and what can be done with the one on show.

import { patch } from "../player/dom.js";
import { translator } from "../player/labels.js";
import { language, query, readTheme, said, watchLanguage, watchTheme } from "./address.js";
import { Buffer } from "./buffer.js";
import { watchDock } from "./dock.js";
import { choose, save } from "./files.js";
import { Guide } from "./guide.js";
import { part } from "./parts.js";
import { reel } from "./reel.js";
import { Runs, recorded } from "./runs.js";
import { led, sendToClass } from "../workshop/send.js";

const TRACE = "application/x-ndjson";

const PATIENCE_MS = 5000;

/** Calls back with an element that the server is about to put into the page. */
function whenThere(selector, react, waited = 0) {
  const found = document.querySelector(selector);
  if (found) react(found);
  else if (waited < PATIENCE_MS) window.setTimeout(() => whenThere(selector, react, waited + 100), 100);
}

/**
 * component: {element, props, watch, server, figure, texts, traces ([{id, titles}]), verify_source, most_bytes, without
 * (tools that it has not), autoplay (false: recorded runs wait)}.
 * props.value: "" or a line {"run", "source", "first"} and then a trace from its line `first` on.
 */
export class Stage {
  constructor(component, mount) {
    Object.assign(this, component);
    const { element, props, texts } = component;
    this.bar = element.querySelector(".sp-reel");
    this.t = translator(texts, language(texts));
    this.runs = new Runs();
    this.live = new Buffer();
    this.shown = { buffer: this.live, source: "", key: "" };
    this.problem = null;
    this.mount = mount;
    this.guide = new Guide(this);
    this.present(query().view === "present");
    this.bar.addEventListener("click", (event) => this.clicked(event));
    this.bar.addEventListener("change", (event) => this.picked(event.target));
    this.watch("value", () => this.received(props.value));
    document.addEventListener("keydown", (event) => event.key === "Escape" && document.body.classList.contains("sp-present") && this.present(false));
    whenThere("#dock", (dock) => watchDock(this.element, dock));
    watchLanguage((lang) => this.setLanguage(lang));
    watchTheme(() => this.drawFigure());
    this.setLanguage(this.t.language);
    if (query().trace) this.recordedRun(query().trace);
    else this.received(props.value);
    this.guide.begin();
  }

  /** The player anew, for a projector or not, with the run on show from its start. */
  present(on) {
    this.player?.destroy();
    document.body.classList.toggle("sp-present", on);
    this.player = this.mount(this.element.querySelector(".sp-player"), {
      strings: this.texts,
      lang: this.t.language,
      view: on ? "present" : "full",
      verify_source: this.verify_source,
      autoplay: this.autoplay,
      onPosition: () => this.moved(),
    });
    if (this.shown.buffer.lines) this.player.feed(this.whole ? this.recording() : this.text);
  }

  /** The player has moved. */
  moved() {
    this.guide.moved();
    part("lessons")?.moved();
  }

  /** The trace on show, and whether all of its lanes have ended. */
  get text() {
    return this.shown.buffer.text;
  }

  get whole() {
    return this.shown.buffer.whole;
  }

  /** The trace on show as a recording. */
  recording() {
    return recorded(this.text, new Date());
  }

  setLanguage(lang) {
    this.t.setLanguage(lang);
    this.player.setLanguage(this.t.language);
    this.guide.draw();
    this.draw();
    this.drawFigure();
  }

  /** A new value from the server: more of a live run, or the first recorded one. */
  received(value) {
    const before = this.live.run;
    const named = this.live.receive(value || "");
    if (!named) return;
    const live = named.source === "live";
    const key = live ? `run ${named.run}` : `trace ${named.run}`;
    // A new run takes the stage; after that the reader may have put something else there.
    if (named.run !== before || key !== this.shown.key) {
      if (named.run !== before) this.show(this.live, named.source, key);
    } else this.player.more(named.news);
    if (live && this.live.whole) this.finished(key);
  }

  /** A live run has ended: it joins the visitor's runs, and its figure is drawn. */
  finished(key) {
    const kept = this.runs.add(this.live.text);
    if (key === this.shown.key) {
      this.shown = { buffer: this.live, source: "own", key: `own ${kept.number}` };
      this.figureShown = true;
      this.drawFigure();
    }
    this.draw();
  }

  /** Puts a trace on the stage. */
  show(buffer, source, key) {
    const fresh = key !== this.shown.key;
    this.shown = { buffer, source, key };
    this.player.feed(buffer.text);
    if (!fresh) return;
    this.problem = null;
    this.draw();
    if (source !== "live") this.drawFigure();
  }

  async ask(name, argument) {
    try {
      return await this.server[name](argument);
    } catch {
      return { problem: Object.fromEntries(Object.keys(this.texts).map((lang) => [lang, this.texts[lang]["ui.page.offline"]])) };
    }
  }

  /** Asks the server for a trace and shows it, or says why not. */
  async fetchAndShow(name, argument, key) {
    const answer = await this.ask(name, argument);
    if (answer.text) this.show(new Buffer(answer.text), name, key);
    this.complain(answer.problem || null);
  }

  /** A recorded run for `put`: the one on show, copied since a live run may take its buffer, else the server's or null. */
  async load(id) {
    const key = `trace ${id}`;
    if (key === this.shown.key) return { key, buffer: new Buffer(this.text) };
    const { text } = await this.ask("recorded_run", id);
    return text ? { key, buffer: new Buffer(text) } : null;
  }

  put({ key, buffer }) {
    if (key !== this.shown.key) this.show(buffer, "recorded_run", key);
  }

  /** Shows what is wrong, or with null nothing any more. */
  complain(problem) {
    this.problem = problem;
    this.draw();
  }

  recordedRun(id) {
    return this.fetchAndShow("recorded_run", id, `trace ${id}`);
  }

  picked(field) {
    if (field.name === "trace" && field.value) this.recordedRun(field.value);
  }

  clicked(event) {
    const button = event.target.closest("button[data-do]");
    if (button) this[`do_${button.dataset.do}`](button);
  }

  do_own(button) {
    const run = this.runs.get(Number(button.dataset.run));
    this.show(new Buffer(run.text), "own", `own ${run.number}`);
  }

  async do_race(button) {
    const run = this.runs.get(Number(button.dataset.run));
    const names = [this.shownName(), `#${run.number}`];
    await this.fetchAndShow("raced_runs", { names, texts: [this.recording(), run.text] }, `race ${names.join(" ")}`);
  }

  /** What the shown run is called as a lane: the number of an own run, else its place in the list of recordings. */
  shownName() {
    const [kind, id] = this.shown.key.split(" ");
    return kind === "own" ? `#${id}` : kind === "trace" ? id : "#0";
  }

  do_figure() {
    this.figureShown = true;
    this.drawFigure();
    whenThere("#figures", (row) => row.scrollIntoView({ block: "center" }));
  }

  /** Has the figure drawn by the server, in this language and theme, if it was asked for. */
  drawFigure() {
    if (!this.figureShown || !this.whole) return;
    this.figure({ text: this.recording(), language: this.t.language, theme: readTheme() });
  }

  do_tour() {
    this.guide.start();
  }

  do_present() {
    this.present(true);
    this.element.querySelector(".sd-stage")?.focus();
  }

  do_save(button) {
    save(`specdemo-${this.fileName()}.jsonl`, this.recording(), TRACE);
    said(button);
  }

  async do_open() {
    const file = await choose(".jsonl,.json,.txt");
    if (file.size > this.most_bytes) {
      this.complain(this.everywhere("ui.page.file_too_large", { limit: Math.round(this.most_bytes / 1e6) }));
      return;
    }
    await this.fetchAndShow("opened_file", await file.text(), `file ${file.name} ${file.lastModified}`);
  }

  async do_page(button) {
    const answer = await this.ask("saved_page", { text: this.recording(), language: this.t.language });
    if (answer.problem) this.complain(answer.problem);
    else {
      save(`specdemo-${this.fileName()}.html`, answer.html, "text/html");
      said(button);
    }
  }

  /** The run on show goes to the class that this browser leads. */
  async do_class(button) {
    const offline = this.everywhere("ui.page.offline", {});
    const problem = await sendToClass(led(), this.recording(), this.fileName(), offline);
    this.complain(problem);
    if (!problem) said(button);
  }

  do_clear() {
    this.complain(null);
  }

  fileName() {
    return this.shown.key.replace(/[^\w.-]+/g, "-").toLowerCase();
  }

  /** A text of the page in every language. */
  everywhere(key, params) {
    const fill = (text) => text.replace(/\{(\w+)\}/g, (all, name) => params[name] ?? all);
    return Object.fromEntries(Object.entries(this.texts).map(([lang, table]) => [lang, fill(table[key])]));
  }

  say(key) {
    return this.texts[this.t.language][`ui.page.${key}`];
  }

  draw() {
    const { t, traces, shown, runs, whole, problem, without = [] } = this;
    patch(this.bar, reel({ t, traces, shown, runs: runs.list, whole, problem, without, leads: led() !== null, say: (key) => this.say(key) }));
  }
}
