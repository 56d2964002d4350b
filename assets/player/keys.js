// Which key means which action, and what a chosen element says of itself. Keys count only while the stage or the
// transport bar has the focus: those of the page around stay its own.

const SIDES = {
  ArrowLeft: ["back", "previous-token"],
  ArrowRight: ["step", "next-token"],
  Home: ["first"],
  End: ["last"],
};

/** The action of a key press, or null: space plays, arrows step (with Shift: choose a token), Home and End jump. */
export function keyAction(event, presenting) {
  const node = event.target;
  const ours = node.closest(".sd-stage, .sd-transport") && !["INPUT", "SELECT"].includes(node.tagName);
  if (node.closest(".sd-scene")) return null;
  if (!ours || event.altKey || event.ctrlKey || event.metaKey) return null;
  if (event.key === " " || event.key === "Enter") {
    if (presenting) return "reveal";
    // A button with the focus takes its own space.
    return event.key === " " && node.tagName !== "BUTTON" ? "toggle" : null;
  }
  return SIDES[event.key]?.[event.shiftKey ? 1 : 0] ?? null;
}

const NAMES = ["lane", "round", "slot", "card", "ghosts", "stage"];

/** The data of an element that stands for an action. */
export function dataOf(node) {
  return Object.fromEntries(NAMES.map((name) => [name, node.getAttribute(`data-${name}`) ?? undefined]));
}

/** The slot that an element stands for: {lane, round, slot}; what it does not say itself its surroundings do. */
export function selectionOf(data, node) {
  const lane = data.lane ?? node.closest("[data-lane]").getAttribute("data-lane");
  const round = Number(data.round ?? node.closest("[data-round]").getAttribute("data-round"));
  return { lane, round, slot: /^\d+$/.test(data.slot) ? Number(data.slot) : data.slot };
}
