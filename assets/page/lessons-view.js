// How a course looks: the list of its entries, a question with its reasons, a snippet with its lines. Descriptions only.

import { h } from "../player/dom.js";
import { seconds } from "../player/format.js";
import { icon } from "../player/icons.js";
import { said, togetherSaid } from "./lessons-figures.js";
import { fill, inline } from "./lessons-text.js";

export const KINDS = ["lesson", "bug", "claim"];
const LETTERS = "ABCD";

/** view: {course, words(id): the parsed text, say(key, params), t, titles(id), cache, code(id), tours, small}. */
export function panel(view) {
  const { course } = view;
  return [bar(view), h("div", { class: "sp-lesson-body" }, course.entry ? entry(view) : contents(view))];
}

function bar({ course, say, small }) {
  const { entry: on } = course;
  return h(
    "header",
    { class: "sp-lesson-bar" },
    on ? tool("contents", say("contents"), "first") : null,
    h("span", { class: "sp-lesson-place" }, on ? say(`place.${on.kind}`, course.place) : say("title")),
    on ? tool("back", say("back"), "previous") : null,
    on ? tool("next", say("next"), "next") : null,
    h(
      "button",
      { type: "button", class: "sp-lesson-tool sp-lesson-fold", "data-lesson-do": "fold", "aria-expanded": String(!small), "aria-label": say(small ? "unfold" : "fold"), title: say(small ? "unfold" : "fold") },
      h("span", { "aria-hidden": "true" }, small ? "▴" : "▾"),
    ),
    tool("close", say("close"), "close"),
  );
}

function tool(name, label, sign) {
  const mark = name === "contents" ? h("span", { "aria-hidden": "true" }, "☰") : icon(sign);
  return h("button", { type: "button", class: "sp-lesson-tool", "data-lesson-do": name, "aria-label": label, title: label }, mark);
}

function contents(view) {
  const { course, say, words, tours } = view;
  const first = course.entries.find(({ id }) => !(id in course.done)) ?? course.entries[0];
  return [
    h("h2", { class: "sp-lesson-title", tabindex: "-1" }, say("title")),
    h("p", {}, say("lead")),
    h(
      "div",
      { class: "sp-lesson-moves" },
      button("enter", say(Object.keys(course.done).length ? "go_on" : "begin", { title: words(first.id).title }), { "data-entry": first.id, class: "sp-lesson-button sp-lesson-main" }),
      tours ? button("tour", say("tour")) : null,
    ),
    KINDS.map((kind) => list(kind, view)),
    Object.keys(course.done).length ? button("forget", say("forget"), { class: "sp-lesson-button sp-lesson-quiet" }) : null,
    h("p", { class: "sd-hint" }, say("kept")),
  ];
}

function list(kind, { course, say, words }) {
  const entries = course.entries.filter((one) => one.kind === kind);
  if (!entries.length) return null;
  const done = entries.filter(({ id }) => id in course.done).length;
  return h(
    "section",
    { class: "sp-lesson-list", "aria-label": say(`kind.${kind}`) },
    h("h3", {}, say(`kind.${kind}`), h("span", { class: "sp-lesson-count" }, `${done}/${entries.length}`)),
    h("p", { class: "sd-hint" }, say(`about.${kind}`)),
    h(
      "ol",
      {},
      entries.map(({ id }, i) =>
        h(
          "li",
          {},
          h(
            "button",
            { type: "button", "data-lesson-do": "enter", "data-entry": id },
            h("span", { class: "sp-lesson-number" }, String(i + 1)),
            h("span", {}, words(id).title),
            id in course.done ? h("span", { class: "sp-lesson-tick", role: "img", "aria-label": say("done") }, "✓") : null,
          ),
        ),
      ),
    ),
  );
}

function entry(view) {
  const { course, say, words } = view;
  const { title, sections } = words(course.entry.id);
  const heading = h("h2", { class: "sp-lesson-title", tabindex: "-1" }, title);
  if (course.lost) return [heading, h("p", { class: "sp-line sp-line-bad", role: "alert" }, say("lost")), button("again", say("retry"))];
  const parts = { ...view, sections, figure: figures(view) };
  if (course.entry.kind === "bug") return [heading, bug(parts)];
  if (!course.run) return [heading, h("p", { class: "sd-hint", role: "status" }, say("loading"))];
  return [heading, question(parts), course.answered ? told(parts) : null];
}

/** A function from the name of a placeholder to its text. */
function figures({ course, t, cache }) {
  const known = new Map();
  const of = (id) => {
    if (!known.has(id) && course.runs.has(id)) known.set(id, said(course.runs.get(id), t));
    return known.get(id);
  };
  const all = () => {
    const runs = (course.entry.runs ?? []).map((id) => course.runs.get(id));
    return runs.every(Boolean) ? togetherSaid(runs) : null;
  };
  return (name) => {
    const [first, second] = name.split(".");
    if (second === undefined) return of(course.entry.trace)?.[first];
    if (first === "all") return all()?.[second];
    if (first === "cache") return cache[second];
    return of(first)?.[second];
  };
}

function paragraphs(section, figure) {
  return (section?.paragraphs ?? []).map((words) => h("p", {}, inline(fill(words, figure))));
}

function question({ course, sections, figure, say }) {
  const { answer, picked, answered } = course;
  const choices = [...sections.choices.items];
  const state = (id) => (!answered ? "" : id === answer ? " sp-lesson-right" : id === picked ? " sp-lesson-wrong" : "");
  return [
    paragraphs(sections.question, figure),
    h(
      "div",
      { class: "sp-lesson-choices", role: "group", "aria-label": say("choices") },
      choices.map(([id, words], i) =>
        h(
          "button",
          { type: "button", class: `sp-lesson-choice${state(id)}`, "data-lesson-do": "choose", "data-choice": id, "aria-pressed": String(id === picked) },
          h("b", { "aria-hidden": "true" }, LETTERS[i]),
          h("span", {}, inline(fill(words, figure))),
        ),
      ),
    ),
    h("div", { class: "sp-lesson-reason", role: "status" }, answered ? reason(course, sections, figure, say) : null),
  ];
}

function reason({ answer, picked }, { reasons: { items } }, figure, say) {
  const right = picked === answer;
  const because = items.get(`because-${answer}`);
  const own = right && because ? null : items.get(picked);
  const verdict = h("b", { class: right ? "sd-ink-accepted" : "sd-ink-rejected" }, `${say(right ? "right" : "wrong")} `);
  return [own, because].filter(Boolean).map((words, i) => h("p", {}, i === 0 ? verdict : null, inline(fill(words, figure))));
}

function told(view) {
  const { course, sections, figure, say } = view;
  return [
    h("div", { class: "sp-lesson-explain" }, paragraphs(sections.explain, figure)),
    course.entry.table ? table(view) : null,
    sections.try ? attempts(view) : null,
    h(
      "div",
      { class: "sp-lesson-moves" },
      button("again", say("again"), { class: "sp-lesson-button sp-lesson-quiet" }),
      button("next", say(course.index + 1 < course.entries.length ? "next" : "finished"), { class: "sp-lesson-button sp-lesson-main" }),
    ),
  ];
}

function attempts({ course, sections, figure, say }) {
  const possible = course.entry.try.map((action) => [action, course.can(action)]);
  return h(
    "section",
    { class: "sp-lesson-try", "aria-label": say("try") },
    h("h3", {}, say("try")),
    paragraphs(sections.try, figure),
    possible.map(([{ id }, can]) =>
      h("button", { type: "button", class: "sp-lesson-button", "data-lesson-do": "attempt", "data-attempt": id, "aria-disabled": can ? null : "true" }, inline(fill(sections.try.items.get(id), figure))),
    ),
    possible.some(([, can]) => !can) ? h("p", { class: "sd-hint" }, say("live_only")) : null,
    h("p", { class: "sd-hint", role: "status" }, course.tried ? say(course.entry.try.find(({ id }) => id === course.tried).settings ? "tried_settings" : "tried") : ""),
  );
}

function table({ course, say, titles, t, cache }) {
  const { columns, rows } = course.entry.table === "cache" ? cacheRows(cache, say) : runRows(course, say, titles, t);
  return h(
    "div",
    { class: "sp-scroll sp-lesson-table", tabindex: "0", role: "region", "aria-label": say(`table.${course.entry.table === "cache" ? "cache" : "runs"}`) },
    h(
      "table",
      { class: "sp-table" },
      h("thead", {}, h("tr", {}, columns.map((words) => h("th", { scope: "col" }, words)))),
      h("tbody", {}, rows.map(([first, ...cells]) => h("tr", {}, h("th", { scope: "row" }, first), cells.map((words) => h("td", {}, words))))),
    ),
  );
}

function runRows({ entry: { table: columns, runs }, runs: known }, say, titles, t) {
  const row = (id) => {
    const figure = known.has(id) ? said(known.get(id), t) : {};
    return [titles(id), ...columns.map((name) => figure[name] ?? "…")];
  };
  return { columns: [say("column.run"), ...columns.map((name) => say(`column.${name}`))], rows: runs.map(row) };
}

function cacheRows({ rows }, say) {
  const columns = ["tokens", "with_cache", "without", "factor"].map((name) => say(`column.${name}`));
  return { columns, rows: rows.map((row) => [String(row.tokens), seconds(row.with_cache_s), seconds(row.without_s), `${(row.without_s / row.with_cache_s).toFixed(0)}×`]) };
}

function bug({ course, code, sections, figure, say }) {
  const { entry: on, wrong, picked, answered } = course;
  const { lines, fix } = code(on.id);
  const line = (words, i) => {
    const state = answered && i === on.line ? " sp-bug-line" : wrong.includes(i) ? " sp-bug-innocent" : "";
    return [
      h(
        "button",
        { type: "button", class: `sp-code-line${state}`, "data-lesson-do": "point", "data-line": String(i), "aria-disabled": answered || !words.trim() ? "true" : null, "aria-label": say("line", { number: i + 1, code: words.trim() }) },
        h("i", { "aria-hidden": "true" }, String(i + 1)),
        h("code", {}, words || " "),
      ),
      answered && i === on.line ? h("div", { class: "sp-code-line sp-bug-fix" }, h("i", { "aria-hidden": "true" }, "✓"), h("code", {}, fix)) : null,
    ];
  };
  return [
    paragraphs(sections.task, figure),
    h("div", { class: "sp-code", role: "group", "aria-label": say("snippet") }, lines.map(line)),
    h("div", { class: "sp-lesson-reason", role: "status" }, verdict({ on, wrong, picked, answered, sections, figure, say })),
    answered
      ? h("div", { class: "sp-lesson-moves" }, button("next", say(course.index + 1 < course.entries.length ? "next" : "finished"), { class: "sp-lesson-button sp-lesson-main" }))
      : h("div", { class: "sp-lesson-moves" }, wrong.length ? button("point", say("show"), { "data-line": "show", class: "sp-lesson-button sp-lesson-quiet" }) : null),
  ];
}

function verdict({ on, wrong, picked, answered, sections, figure, say }) {
  if (answered) {
    const head = h("b", { class: picked === on.line ? "sd-ink-accepted" : "sd-ink-rejected" }, `${say(picked === on.line ? "found" : "given_up", { number: on.line + 1 })} `);
    return sections.reason.paragraphs.map((words, i) => h("p", {}, i === 0 ? head : null, inline(fill(words, figure))));
  }
  if (!wrong.length) return h("p", { class: "sd-hint" }, say("point"));
  const last = wrong.at(-1);
  const head = h("b", { class: "sd-ink-rejected" }, `${say("innocent", { number: last + 1 })} `);
  return h("p", {}, head, inline(sections.hint.paragraphs.join(" ")));
}

function button(name, label, attributes = {}) {
  return h("button", { type: "button", class: "sp-lesson-button", "data-lesson-do": name, ...attributes }, label);
}
