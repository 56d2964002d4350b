// The stage of a page without a server: recorded runs and the visitor's own files, which may be raced against each other.

import { mount } from "../player/player.js";
import { Buffer } from "../page/buffer.js";
import { choose } from "../page/files.js";
import { Stage } from "../page/stage.js";

export class Stand extends Stage {
  constructor(component) {
    super(component, mount);
  }

  /** A file joins the visitor's runs and takes the stage. */
  async do_open() {
    const file = await choose(".jsonl,.json,.txt");
    if (file.size > this.most_bytes) {
      this.complain(this.everywhere("ui.page.file_too_large", { limit: Math.round(this.most_bytes / 1e6) }));
      return;
    }
    await this.open(await file.text());
  }

  /** Takes a trace as text, if it is one. */
  async open(text) {
    const answer = await this.ask("opened_file", text);
    if (answer.text) {
      const run = this.runs.add(answer.text);
      this.show(new Buffer(run.text), "own", `own ${run.number}`);
    }
    this.complain(answer.problem || null);
  }

  /** The player has moved. */
  moved() {
    super.moved();
    this.onMove?.();
  }
}
