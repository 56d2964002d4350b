// What the presenter sees beside the run: the bar, the way in, the composer of questions. Knows what is drawn.

import { h } from "../player/dom.js";
import { icon } from "../player/icons.js";
import { question } from "./ask.js";
import { board } from "./board.js";
import { kinds } from "./questions.js";
import { sentence } from "./page.js";

/** The bar that leads the class. */
export function bar(lead) {
  const { say, state, page, teacher, problem } = lead;
  const { player } = page;
  return h(
    "div",
    { class: "ws-lead" },
    problem ? h("p", { class: "ws-problem", role: "alert" }, sentence(problem, say)) : null,
    h(
      "div",
      { class: "ws-row" },
      runs(lead),
      h(
        "div",
        { class: "ws-group" },
        tool("first", say("first"), icon("first")),
        tool("back", say("step_back"), icon("back")),
        tool("toggle", say(player.playing() ? "pause" : "play"), icon(player.playing() ? "pause" : "play"), { main: true }),
        tool("step", say("step"), icon("step")),
        tool("last", say("last"), icon("last")),
      ),
      h("span", { class: "ws-place" }, `${player.position()} / ${player.last()}`),
      tool("reveal", say("reveal"), say("reveal")),
      h("span", { class: "ws-here", title: say("here_about") }, lead.linked ? say("here", { count: state.here }) : say("reconnecting")),
    ),
    h(
      "div",
      { class: "ws-row" },
      lessonsMenu(lead),
      teacher.lesson ? tool("next", say(`stage.${teacher.coming}`), say(`stage.${teacher.coming}`), { main: true }) : null,
      tool("question", say("question"), say("question"), { pressed: state.view === "question" || lead.panel === "ask" }),
      tool("board", say("tab_board"), say("tab_board"), { pressed: state.view === "board" }),
      tool("join", say("join"), say("join"), { pressed: state.view === "join" }),
      tool("run", say("run_live"), say("run_live"), { pressed: lead.panel === "run" }),
      h("label", { class: "ws-check" }, h("input", { type: "checkbox", name: "live", checked: state.live }), say("allow_live")),
      tool("more", say("more"), "⋯", { pressed: lead.panel === "more" }),
    ),
  );
}

function tool(name, label, inner, { main = false, pressed = null } = {}) {
  const text = typeof inner === "string";
  return h("button", { type: "button", class: `ws-button${main ? " ws-main" : ""}`, "data-do": name, "aria-label": text && inner === label ? null : label, title: text ? null : label, "aria-pressed": pressed === null ? null : String(pressed) }, inner);
}

function runs({ say, shipped, state, stand }) {
  const all = [...(state.own ?? []).toReversed(), ...shipped];
  return h(
    "select",
    { name: "trace", "aria-label": say("run"), value: all.some(({ id }) => id === stand.trace) ? stand.trace : "" },
    h("option", { value: "" }, say("run_choose")),
    all.map(({ id, titles, own }) => h("option", { value: id }, `${own ? "★ " : ""}${say.of(titles) || id}`)),
  );
}

function lessonsMenu({ say, teacher: { lessons, lesson } }) {
  return h(
    "select",
    { name: "lesson", "aria-label": say("lesson"), value: lesson?.id ?? "" },
    h("option", { value: "" }, say("lesson_choose")),
    lessons.entries.map(({ id }) => h("option", { value: id }, say.of(lessons.title(id)))),
  );
}

/** What lies over the run, or null. said(error): its sentence. */
export function overlay(lead, said) {
  const { say, state, panel } = lead;
  if (panel === "run") return lead.try.view(said);
  if (panel === "ask") return composer(lead);
  if (panel === "more") return more(lead);
  if (panel === "watch" && (lead.try.running || lead.try.note?.bad)) return lead.try.text ? null : [h("p", { class: "ws-wait" }, lead.try.line(said))];
  if (state.view === "join") return join(lead);
  if (state.view === "board") return board({ points: lead.points, mine: new Set(), ...room(), say, csv: true });
  if (state.view === "question" && state.question) return [question({ asked: state.question, words: lead.asked, choice: lead.picked, tally: state.tally, say, votes: false }), answering(lead)];
  return null;
}

function room() {
  return { width: Math.min(window.innerWidth, 1500) - 40, height: Math.max(280, window.innerHeight - 372) };
}

// An own question has no answer of its own: the presenter may mark one first.
function answering({ say, state, asked, picked }) {
  const button = (name, label, main) => h("button", { type: "button", class: `ws-button${main ? " ws-main" : ""}`, "data-do": name }, label);
  if (!state.question.open) return h("div", { class: "ws-row" }, button("dismiss", say("done"), true));
  const marks = asked?.kind === "own" ? asked.options.map((option, i) => h("button", { type: "button", class: "ws-button", "data-pick": i, "aria-pressed": String(picked === i) }, String(i + 1))) : [];
  return h("div", { class: "ws-row" }, button("answer", say("answer"), true), button("dismiss", say("dismiss")), marks.length ? h("span", { class: "ws-hint" }, say("mark")) : null, marks);
}

/** The way in, large enough for the last row. */
function join({ say, state, address, wire }) {
  const local = /^https?:\/\/(localhost|127\.)/.test(address);
  const shown = address.replace(/^https?:\/\//, "");
  return h(
    "div",
    { class: "ws-join" },
    h("img", { src: `${wire.base}/qr.svg?address=${encodeURIComponent(address)}`, alt: say("qr"), width: 400, height: 400 }),
    h(
      "div",
      {},
      h("p", { class: "ws-join-how" }, say("join_how")),
      h("p", { class: "ws-address" }, shown),
      h("p", { class: "ws-join-code" }, say("join_code"), h("b", {}, state.code)),
      local ? h("p", { class: "ws-problem" }, say("join_local")) : null,
      h("p", { class: "ws-hint" }, say("join_about")),
    ),
  );
}

/** Questions about the run on show, and one of the presenter's own. */
function composer(lead) {
  const { say, stand, state } = lead;
  const text = stand.texts.get(stand.trace);
  if (text && !lead.kinds?.[stand.trace]) text.then((known) => lead.draw((lead.kinds = { ...lead.kinds, [stand.trace]: kinds(known) })));
  const fitting = lead.kinds?.[stand.trace] ?? [];
  const params = { gamma: "γ", longer: "3γ" };
  return h(
    "div",
    { class: "ws-composer" },
    h("h2", {}, say("ask_title")),
    fitting.length ? h("div", { class: "ws-kinds" }, fitting.map((kind) => h("button", { type: "button", class: "ws-button", "data-ask": kind }, say(`ask.${kind}`, params)))) : h("p", { class: "ws-hint" }, say("ask_no_run")),
    h(
      "form",
      { class: "ws-own", "data-do": "ask" },
      h("h2", {}, say("ask_own")),
      h("label", { class: "ws-field" }, h("span", {}, say("ask_text")), h("input", { name: "text", maxlength: "300", required: true })),
      h("label", { class: "ws-field" }, h("span", {}, say("ask_options")), h("textarea", { name: "options", rows: "4", required: true })),
      h("div", { class: "ws-row" }, h("button", { type: "submit", class: "ws-button ws-main" }, say("ask_go")), h("button", { type: "button", class: "ws-button", "data-do": "close" }, say("close")), h("p", { class: "ws-hint" }, say("ask_about", { count: state.here }))),
    ),
  );
}

/** What is needed seldom. */
function more({ say, state }) {
  const line = (name, label, about) => h("div", { class: "ws-more-line" }, h("button", { type: "button", class: "ws-button", "data-do": name }, label), h("p", { class: "ws-hint" }, about));
  return h(
    "div",
    { class: "ws-more" },
    h("h2", {}, say("more")),
    line("open", say("open"), say("open_about")),
    line("csv", say("csv"), say("csv_about")),
    line("anew", say("anew"), say("anew_about", { code: state.code })),
    h("div", { class: "ws-row" }, h("button", { type: "button", class: "ws-button", "data-do": "close" }, say("close"))),
  );
}
