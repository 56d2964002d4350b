// The foot of the page: what is missing here, and how to get it.

import { h, patch } from "../player/dom.js";
import { readLanguage, watchLanguage } from "../page/address.js";

/** component: {element, texts, repository}. repository: the project's address, or "". */
export function foot({ element, texts, repository }) {
  if (!element) return;
  const draw = () => {
    const say = (key) => texts[readLanguage()][`site.${key}`];
    const source = repository ? h("a", { href: repository, rel: "noopener" }, repository) : null;
    patch(element, [h("p", {}, say("about")), h("p", {}, say("live"), " ", h("code", {}, "make demo"), source ? " · " : null, source)]);
  };
  watchLanguage(draw);
  draw();
}
