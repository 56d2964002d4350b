// Leads a class through a lesson, one button for all of it. Knows lessons and the presenter's page.

import { reducesMotion } from "../player/clock.js";
import { Lessons, STAGES } from "./lessons.js";

const KEPT = "specdemo-lesson";

export class Teacher {
  /** lead: the presenter's page. data, texts: of `Lessons`. */
  constructor(lead, data, texts) {
    Object.assign(this, { lead, lessons: new Lessons(data, texts), lesson: null, guide: null });
  }

  /** The lesson that was on before a reload. */
  restore() {
    const kept = JSON.parse(window.sessionStorage.getItem(KEPT) ?? "null");
    this.lesson = this.lessons.entry(kept?.id) ? kept : null;
  }

  stand(lesson) {
    this.lesson = lesson;
    window.sessionStorage.setItem(KEPT, JSON.stringify(lesson));
  }

  /** Takes up a lesson; nothing is shown before `next`. */
  choose(id) {
    this.leave();
    this.stand(this.lessons.entry(id) ? { id, stage: -1 } : null);
    this.lead.draw();
  }

  /** No longer moves the player. */
  leave() {
    this.guide?.end();
    this.guide = null;
  }

  /** What `next` will do: one of `STAGES`, or "next" for the next lesson. */
  get coming() {
    return STAGES[this.lesson.stage + 1] ?? "next";
  }

  /** The next part of the lesson; behind the last one, the next lesson. */
  async next() {
    const { lead, lessons } = this;
    let { id, stage } = this.lesson;
    if (++stage === STAGES.length) {
      const after = lessons.entries[lessons.entries.findIndex((one) => one.id === id) + 1];
      [id, stage] = after ? [after.id, 0] : [id, STAGES.length - 1];
    }
    this.stand({ id, stage });
    lead.lead();
    try {
      await this.part(STAGES[stage], id, await lead.stand.text(lessons.entry(id).trace));
    } catch (error) {
      lead.failed(error);
    }
    lead.draw();
  }

  async part(part, id, text) {
    const { lead, lessons } = this;
    const { question } = lead.state;
    if (part === "ask") await lead.act("ask", lessons.question(id, text));
    else if (part === "answer") {
      if (question?.open) await lead.act("reveal", { question: question.id, answer: lessons.answer(id, text) });
    } else {
      if (question) await lead.act("dismiss");
      lead.view("run");
      this.through(id, part === "show" ? "before" : "after");
    }
  }

  through(id, part) {
    this.leave();
    const { lead } = this;
    const host = {
      text: (trace) => lead.stand.text(trace),
      load: async (trace) => ({ trace, text: await lead.stand.text(trace) }),
      put: ({ trace, text }) => {
        if (trace !== lead.stand.trace) lead.stand.put(trace, text);
      },
      get player() {
        return lead.page.player;
      },
      showScene: (scene) => {
        lead.stand.show(scene ?? "");
        lead.post.change({ scene: scene ?? "" });
      },
    };
    lead.told = {};
    this.guide = this.lessons.guide(id, part, host, reducesMotion(window));
    return this.guide.start();
  }

  /** The number of the right option of a lesson's question, null for other kinds. */
  async answer(kind) {
    const entry = kind.startsWith("lesson-") ? this.lessons.entry(kind.slice(7)) : null;
    return entry && this.lessons.answer(entry.id, await this.lead.stand.text(entry.trace));
  }
}
