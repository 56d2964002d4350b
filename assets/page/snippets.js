// The settings as code for other programs, each with a button that copies it.

import { h, patch } from "../player/dom.js";
import { copyText, readLanguage, said, watchLanguage } from "./address.js";
import { tool } from "./tools.js";

/** component.props.value: JSON of [{name, code, note: {en, zh}}] or "". */
export function showSnippets({ element, props, watch, texts }) {
  const root = element.querySelector(".sp-snippets");
  const list = () => (props.value ? JSON.parse(props.value) : []);
  const draw = () => {
    const table = texts[readLanguage()] || texts.en;
    root.hidden = !props.value;
    patch(root, list().map((snippet, i) => block(snippet, i, table, readLanguage())));
  };
  root.addEventListener("click", async (event) => {
    const button = event.target.closest("button");
    if (button?.dataset.do === "clear") {
      props.value = "";
      draw();
    } else if (button) {
      await copyText(list()[Number(button.dataset.copy)].code);
      said(button);
    }
  });
  watch("value", draw);
  watchLanguage(draw);
  draw();
}

function block({ name, code, note }, i, table, language) {
  return h(
    "section",
    { class: "sp-snippet" },
    h(
      "header",
      {},
      h("h3", {}, name),
      h("button", { type: "button", class: "sp-tool", "data-copy": i }, table["ui.page.copy"]),
      tool("clear", table["ui.page.close"]),
    ),
    h("pre", { tabindex: "0" }, h("code", {}, code)),
    note[language] ? h("p", {}, note[language]) : null,
  );
}
