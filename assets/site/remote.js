// What another script may do with the page: put a trace on the stage, stand at a step, learn where the reader is.

import { Buffer } from "../page/buffer.js";
import { readTheme, setTheme } from "../page/address.js";

const HANDS = ["pointerdown", "keydown", "input", "change"];

/**
 * stage: a Stand. Positions are numbers of steps, 0 … last(). A subscriber is called with {run, position, last, by}
 * after every move; by: "page" for moves that were made through this handle, "reader" for the reader's own.
 */
export function remote(stage) {
  const subscribers = new Set();
  let by = "reader";
  const state = () => ({ run: stage.shown.key, position: stage.player.position(), last: stage.player.last(), by });
  stage.onMove = () => {
    for (const react of subscribers) react(state());
  };
  for (const name of HANDS)
    stage.element.addEventListener(
      name,
      () => {
        by = "reader";
      },
      true,
    );
  const order = (act) => (...given) => {
    by = "page";
    return act(...given);
  };
  return {
    /** Puts a trace on the stage: its text, and a name that tells it from others. It stands still at its start. */
    load: order((text, run) => stage.show(new Buffer(text), "given", run)),
    /** Puts a recorded run of the page on the stage. Returns a promise. */
    loadRecorded: order((id) => stage.recordedRun(id)),
    /** Stands at a step. */
    seek: order((position) => stage.player.seek(Math.min(position, stage.player.last()))),
    /** Stands just after a round of the drafting lane. */
    goToRound: order((number) => stage.player.goToRound(number)),
    play: order(() => stage.player.play()),
    pause: order(() => stage.player.pause()),
    position: () => stage.player.position(),
    last: () => stage.player.last(),
    rounds: () => stage.player.rounds(),
    state,
    /** The player of now, for what else it can do. */
    get player() {
      return stage.player;
    },
    /** Calls back after every move. Returns the function that ends it. */
    subscribe(react) {
      subscribers.add(react);
      return () => subscribers.delete(react);
    },
    language: () => stage.t.language,
    setLanguage(language) {
      document.querySelector(`[data-lang="${language}"]`)?.click();
    },
    theme: readTheme,
    setTheme,
  };
}
