// Two recorded runs as one race by their own clocks, as specdemo/ui/replays.py makes it. Knows parsed lines; the player
// puts the steps of the lanes in order.

import { Misfit } from "./fields.js";

/** The text of the race: the drafting lane of each, and a baseline if there is one. names: of the two lanes. */
export function raced(first, second, names) {
  const lanes = new Map();
  const apart = names[0] === names[1] ? [names[0], `${names[1]} (2)`] : names;
  [first, second].forEach((records, i) => lanes.set(apart[i], lane(records, drafting(records), apart[i])));
  for (const records of [first, second]) {
    const plain = started(records).find(({ drafter }) => drafter === "none")?.lane;
    if (plain !== undefined && !lanes.has(plain)) lanes.set(plain, lane(records, plain, plain));
  }
  const lines = [first[0], { strings: strings(first, second) }, ...[...lanes.values()].flat()];
  return lines.map((line) => `${JSON.stringify(line)}\n`).join("");
}

function started(records) {
  return records.filter(({ event }) => event === "run_started");
}

/** The lane that drafts, else the first. */
function drafting(records) {
  const all = started(records);
  return (all.find(({ drafter }) => drafter !== "none") ?? all[0]).lane;
}

function lane(records, name, renamed) {
  return records.filter((record) => record.event && record.lane === name).map((record) => ({ ...record, lane: renamed }));
}

// Two tokenizers give an id two meanings: then there is no race between them.
function strings(...runs) {
  const merged = new Map();
  for (const record of runs.flat()) {
    for (const [id, string] of Object.entries(record.strings ?? {})) {
      const known = merged.get(id);
      if (known && (known[0] !== string[0] || known[1] !== string[1])) throw new Misfit("trace_tokenizers");
      merged.set(id, string);
    }
  }
  return Object.fromEntries(merged);
}
