// Puts a page's player where the presenter stands. Knows places and a player, nothing of connections.

import { reducesMotion } from "../player/clock.js";
import { sceneOf } from "../page/scenes.js";

const APART_STEPS = 12;
const MOVES = "[data-do=first], [data-do=back], [data-do=toggle], [data-do=step], [data-do=last], [data-do=round], [data-do=walk]";
const KEYS = ["ArrowLeft", "ArrowRight", " ", "Home", "End", "Enter", "w", "f"];

export class Stand {
  /** page: the handle of the page. text(id): a promise of the trace of that name. */
  constructor(page, text) {
    Object.assign(this, { page, load: text, texts: new Map(), trace: null, scene: "", moving: false, turn: 0 });
  }

  get player() {
    return this.page.player;
  }

  /** The trace of that name, asked for once. */
  text(id) {
    if (!this.texts.has(id)) {
      const asked = this.load(id);
      this.texts.set(id, asked);
      asked.catch(() => this.texts.delete(id));
    }
    return this.texts.get(id);
  }

  /** Stands at a place. Later calls win over earlier ones that still wait for their trace. */
  async go(place) {
    const turn = ++this.turn;
    if (place.trace && place.trace !== this.trace) {
      const text = await this.text(place.trace);
      if (turn !== this.turn) return;
      this.quietly(() => this.put(place.trace, text));
    }
    if (place.trace) this.quietly(() => this.stand(place));
  }

  put(trace, text) {
    this.page.load(text, trace);
    this.trace = trace;
    this.show("");
  }

  stand({ step, speed, scene = "", revealed }) {
    const { player } = this;
    if (speed > 0 && !reducesMotion(window) && step < player.last()) {
      player.setSpeed(speed);
      if (!player.playing() || Math.abs(player.position() - step) > APART_STEPS) player.seek(step);
      player.play();
    } else if (player.position() !== step || player.playing()) player.seek(step);
    if (revealed !== undefined && player.revealed() !== revealed) player.revealed(revealed);
    this.show(scene);
  }

  show(scene) {
    if (scene === this.scene) return;
    this.scene = scene;
    this.player.showScene(scene ? sceneOf(scene, null) : null);
  }

  /** What happens within is not the reader's doing. */
  quietly(act) {
    this.moving = true;
    try {
      act();
    } finally {
      this.moving = false;
    }
  }
}

/** Calls back when the reader takes the player into their own hands. present: every click there is a move. */
export function hands(root, present, react) {
  root.addEventListener("click", (event) => event.target.closest(present ? ".sd-stage" : MOVES) && react(), true);
  root.addEventListener("input", (event) => event.target.matches(".sd-slider") && react(), true);
  root.addEventListener("keydown", (event) => KEYS.includes(event.key) && !event.target.matches("input, textarea, select") && react(), true);
}
