// What the stage asks a server for, answered without one. Every answer is {text} or {problem: a sentence in every language}.

import { Misfit } from "./fields.js";
import { raced } from "./raced.js";
import { readTrace } from "./strict.js";

/** packs: the recorded runs. limits: of `readTrace`. say(key, params): a sentence in every language. */
export function answers(packs, limits, say) {
  const told = (question) => async (given) => {
    try {
      return { text: await question(given) };
    } catch (error) {
      if (!(error instanceof Misfit)) throw error;
      return { problem: say(`error.${error.key}`, error.params) };
    }
  };
  return {
    async recorded_run(id) {
      const text = await packs.text(id);
      return text === null ? { problem: say("site.missing", { id }) } : { text };
    },
    opened_file: told((text) => {
      readTrace(text, limits);
      return text;
    }),
    raced_runs: told(({ names, texts }) => raced(readTrace(texts[0], limits), readTrace(texts[1], limits), names)),
  };
}
