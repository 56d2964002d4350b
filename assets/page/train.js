// The Train tab: a visitor's own text becomes an n-gram table, which can be looked into and raced.

import { patch } from "../player/dom.js";
import { choose as chooseFile } from "./files.js";
import { keep, kept } from "./keep.js";
import { Lab } from "./lab.js";
import { part } from "./parts.js";
import { choose as chooseTab } from "./tabs.js";
import { view } from "./train-view.js";

const BUSY = ["waiting", "running"];

/** The text of bytes, or the key of the sentence why they are none. name: of the file. most: characters allowed. */
export function readText(bytes, name, most) {
  if (!/\.txt$/i.test(name)) return { problem: "not_txt" };
  // No character takes more than four bytes.
  if (bytes.byteLength > 4 * most) return { problem: "too_long" };
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    if (text.includes("\0")) return { problem: "not_utf8" };
    if (!text.trim()) return { problem: "blank" };
    return text.length > most ? { problem: "too_long" } : { text };
  } catch {
    return { problem: "not_utf8" };
  }
}

/** component: {element, props, watch, texts, train(asked), look(asked), race(), halt(), most, orders, plain}. */
export class Train extends Lab {
  constructor(component) {
    super(component, "train");
    const { plain, orders } = component;
    this.asked = kept("train", plain, { order: orders });
    this.text = "";
    this.context = "";
    this.problem = null;
    this.latest = { train: null, look: null };
    this.table = null;
    this.question = 0;
    this.begin();
  }

  get busy() {
    return BUSY.includes(this.latest.train?.state);
  }

  changed({ name, value }) {
    if (name === "text") [this.text, this.problem] = [value, null];
    else if (name === "context") this.context = value;
    else if (name === "order" && value !== "") {
      this.asked = { ...this.asked, order: Number(value) };
      keep("train", this.asked, this.plain);
    }
    this.draw();
  }

  clicked(button) {
    const act = {
      file: () => this.open(),
      train: () => this.start(),
      halt: () => this.halt({}),
      look: () => this.seek(this.context),
      shown: () => this.seek(part("stage")?.player.text() ?? ""),
      race: () => {
        this.race({});
        chooseTab("watch");
      },
    };
    act[button?.dataset.do]?.();
  }

  async open() {
    const file = await chooseFile(".txt");
    const found = file.size > 4 * this.most ? { problem: "too_long" } : readText(await file.arrayBuffer(), file.name, this.most);
    this.problem = found.problem ? this.say(`problem.${found.problem}`, { file: file.name, most: this.most }) : null;
    if (found.text) this.text = found.text;
    this.draw();
  }

  start() {
    if (this.busy) return;
    [this.problem, this.latest] = [null, { train: { state: "waiting" }, look: null }];
    this.train({ text: this.text, order: this.asked.order });
    this.draw();
  }

  /** Asks what the table knows of the end of a text. */
  seek(context) {
    if (!this.table) return;
    this.context = context;
    this.latest = { ...this.latest, look: this.latest.look?.law ? this.latest.look : { state: "waiting" } };
    this.look({ context, number: ++this.question });
    this.draw();
  }

  received(state) {
    // An answer to an earlier question is late.
    if (state.number !== undefined && state.number !== this.question) return;
    // A table that is there already comes a second time with the end of its stream, perhaps behind a question to it.
    if (state.kind === "train" && this.table && state.run === this.table.run) return;
    // What is on show stays until its successor is there.
    if (state.kind !== "look" || state.state !== "waiting") this.latest = { ...this.latest, [state.kind]: state };
    if (state.kind === "train" && state.state === "done") {
      this.table = state;
      this.seek(state.middle);
    }
    this.draw();
  }

  draw() {
    patch(this.root, view(this));
  }
}
