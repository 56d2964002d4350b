// What has been measured as files: rows as CSV, all of it as JSON, a chart as PNG; each with commit and hardware.

import { save } from "./files.js";

/** A table with a header; every row says when, where and with which commit it was measured. */
export function csv({ fields, rows, about }) {
  const more = { measured: about.measured, commit: about.commit, dtype: about.dtype, processor: about.hardware.gpu || about.hardware.processor, threads: about.hardware.threads };
  const lines = [[...fields, ...Object.keys(more)], ...rows.map((row) => [...row, ...Object.values(more)])];
  return lines.map((line) => `${line.map(cell).join(",")}\r\n`).join("");
}

function cell(value) {
  if (value === null || value === undefined) return "";
  const text = typeof value === "boolean" ? (value ? "True" : "False") : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Saves a measurement. kind: "csv" or "json". */
export function saveData(kind, state) {
  const name = `specdemo-${state.kind}-${String(state.about.measured).replace(/[^\dT]/g, "").slice(0, 15)}`;
  if (kind === "csv") save(`${name}.csv`, csv(state), "text/csv");
  else save(`${name}.json`, JSON.stringify(record(state), null, 1), "application/json");
}

/** A measurement without what only the page needs. */
export function record({ run, progress, refused = [], ...state }) {
  return { ...state, refused: refused.map(({ drafter, problem }) => ({ drafter, problem: problem.en })) };
}

const LOOKS = ["fill", "stroke", "stroke-width", "stroke-dasharray", "font", "text-anchor", "paint-order", "opacity"];
const [MARGIN, LINE] = [20, 17];

/** A text in lines that are no wider than `most`, if no word is. width(text): of a piece of it. */
export function wrapped(text, most, width) {
  return text.split(" ").reduce((lines, word) => {
    const longer = lines.length ? `${lines.at(-1)} ${word}` : word;
    return lines.length && width(longer) <= most ? [...lines.slice(0, -1), longer] : [...lines, word];
  }, []);
}

/** Saves a chart of the page as a picture at twice its size, with a title and the machine under it. */
export async function savePicture(svg, name, title, caption) {
  const width = svg.clientWidth + 2 * MARGIN;
  const picture = svg.cloneNode(true);
  const [from, to] = [[svg, ...svg.querySelectorAll("*")], [picture, ...picture.querySelectorAll("*")]];
  from.forEach((node, i) => {
    const looks = window.getComputedStyle(node);
    to[i].setAttribute("style", LOOKS.map((look) => `${look}:${looks.getPropertyValue(look)}`).join(";"));
  });
  const url = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(new XMLSerializer().serializeToString(picture))}`;
  const image = new Image();
  image.src = url;
  await image.decode();
  const canvas = document.createElement("canvas");
  const pen = canvas.getContext("2d");
  const looks = window.getComputedStyle(svg.closest(".sd-root"));
  const small = `12px ${looks.fontFamily}`;
  pen.font = small;
  const lines = wrapped(caption, width - 2 * MARGIN, (text) => pen.measureText(text).width);
  const height = svg.clientHeight + 60 + LINE * lines.length;
  [canvas.width, canvas.height] = [2 * width, 2 * height];
  const colour = (variable) => looks.getPropertyValue(variable).trim();
  pen.scale(2, 2);
  pen.fillStyle = colour("--sd-panel");
  pen.fillRect(0, 0, width, height);
  pen.drawImage(image, MARGIN, 38, svg.clientWidth, svg.clientHeight);
  pen.fillStyle = colour("--sd-ink");
  pen.font = `600 16px ${looks.fontFamily}`;
  pen.fillText(title, MARGIN, 26, width - 2 * MARGIN);
  pen.fillStyle = colour("--sd-muted");
  pen.font = small;
  lines.forEach((line, i) => pen.fillText(line, MARGIN, height - 14 - LINE * (lines.length - 1 - i)));
  const blob = await new Promise((done) => canvas.toBlob(done, "image/png"));
  save(`${name}.png`, blob, "image/png");
}
