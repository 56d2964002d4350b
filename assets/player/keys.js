// Which key means which action. Keys count only while the stage has the focus: those of the page around stay its own.

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
  if (!ours || event.altKey || event.ctrlKey || event.metaKey) return null;
  if (event.key === " " || event.key === "Enter") {
    if (presenting) return "reveal";
    // A button with the focus takes its own space.
    return event.key === " " && node.tagName !== "BUTTON" ? "toggle" : null;
  }
  return SIDES[event.key]?.[event.shiftKey ? 1 : 0] ?? null;
}
