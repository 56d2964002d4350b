// A live run of one's own: the form, the place in the line, and the run on the stage while it comes.

import { h } from "../player/dom.js";
import { recorded } from "../page/runs.js";

const PLAIN = { drafter: "prompt-lookup", gamma: 4, temperature: 0 };

export class Try {
  /** options: {page, wire, say, drafters, prompts, most, redraw(), done(text, this): a run has ended and was not stopped}. */
  constructor(options) {
    Object.assign(this, options);
    this.values = { ...PLAIN, preset: this.prompts[0].id, prompt: this.prompts[0].text, max_new_tokens: Math.min(64, this.most), board: false };
    if (!this.drafters.includes(PLAIN.drafter)) this.values.drafter = this.drafters[0];
    this.control = null;
    this.ahead = undefined;
    this.note = null;
    this.number = 0;
    this.text = "";
  }

  get running() {
    return this.control !== null;
  }

  /** The field of the form that was changed. */
  changed({ name, value, checked, type }) {
    if (name === "preset") {
      const preset = this.prompts.find(({ id }) => id === value);
      Object.assign(this.values, { preset: value, prompt: preset?.text ?? this.values.prompt });
    } else if (name in this.values) {
      this.values[name] = type === "checkbox" ? checked : ["gamma", "temperature", "max_new_tokens"].includes(name) ? Number(value) : value;
    }
    if (name !== "prompt") this.redraw();
  }

  stop() {
    this.control?.abort();
  }

  async start() {
    if (this.running) return;
    this.control = new AbortController();
    this.text = "";
    this.note = null;
    const name = `mine-${++this.number}`;
    const { preset, ...values } = this.values;
    this.redraw();
    try {
      await this.wire.lines("run", { ...values, seed: 1 }, (lines) => this.take(lines, name), this.control.signal);
      if (!this.note?.bad) this.done(recorded(this.text, new Date()), this);
    } catch (error) {
      if (error.name !== "AbortError") this.note = { error, bad: true };
    }
    this.control = null;
    this.ahead = undefined;
    this.redraw();
  }

  take(lines, name) {
    for (const line of lines) {
      const record = JSON.parse(line);
      if ("ahead" in record) this.ahead = record.ahead;
      else if (record.problem) this.note = { texts: record.problem, bad: true };
      else if ("point" in record) this.point(record.point);
      else {
        this.ahead = undefined;
        this.text += `${line}\n`;
      }
    }
    if (this.text) this.page.load(this.text, name);
    this.redraw();
  }

  point(number) {
    this.note = number === null ? { key: "too_short" } : { key: "on_board", point: number };
  }

  /** The form. sentence(error): what it says. */
  view(sentence) {
    const { say, values, running } = this;
    return h(
      "form",
      { class: "ws-try", "data-do": "run" },
      field(say("try_preset"), h("select", { name: "preset", value: values.preset }, this.prompts.map(({ id, titles }) => h("option", { value: id }, say.of(titles))))),
      field(say("try_prompt"), h("textarea", { name: "prompt", rows: "3", maxlength: "4000", value: values.prompt })),
      h(
        "div",
        { class: "ws-fields" },
        field(say("try_drafter"), h("select", { name: "drafter", value: values.drafter }, this.drafters.map((id) => h("option", { value: id }, say.drafter(id))))),
        number("gamma", "γ", values.gamma, 1, 12, 1),
        number("temperature", "T", values.temperature, 0, 1.5, 0.1),
        this.most > 32 ? number("max_new_tokens", say("try_tokens"), values.max_new_tokens, 8, this.most, 8) : null,
      ),
      h("label", { class: "ws-check" }, h("input", { type: "checkbox", name: "board", checked: values.board }), say("try_board")),
      h(
        "div",
        { class: "ws-row" },
        running ? h("button", { type: "button", class: "ws-button", "data-do": "stop" }, say("stop")) : h("button", { type: "submit", class: "ws-button ws-main" }, say("try_run", { most: values.max_new_tokens })),
        h("p", { class: `ws-hint${this.note?.bad ? " ws-problem" : ""}`, role: "status" }, this.line(sentence)),
      ),
    );
  }

  line(sentence) {
    const { say, note } = this;
    if (note?.error) return sentence(note.error);
    if (note?.texts) return say.of(note.texts);
    if (note) return say(note.key);
    if (!this.running) return say("try_about", { most: this.values.max_new_tokens });
    if (this.text) return say("try_going");
    return typeof this.ahead === "number" && this.ahead > 0 ? say("try_ahead", { count: this.ahead }) : say("try_waits");
  }
}

function field(label, control) {
  return h("label", { class: "ws-field" }, h("span", {}, label), control);
}

function number(name, label, value, min, max, step) {
  return field(label, h("span", { class: "ws-number" }, h("input", { type: "range", name, min, max, step, value }), h("output", {}, String(value))));
}
