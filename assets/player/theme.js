// Light or dark: what the page around the player says. Gradio puts `.dark` on the body, others `data-theme` on the root.

/** "dark" or "light" for a player's root: chosen for it, else what the page says. */
export function themeOf(root) {
  const chosen = root.getAttribute("data-theme-chosen");
  if (chosen) return chosen;
  for (let node = root.parentNode; node && node.nodeType === 1; node = node.parentNode) {
    const theme = node.getAttribute("data-theme");
    if (theme === "dark" || theme === "light") return theme;
    if (node.classList.contains("dark")) return "dark";
  }
  return "light";
}

/** Calls back when the theme of the page may have changed; returns the way to stop that. */
export function watchTheme(root, changed) {
  const { documentElement, body, defaultView } = root.ownerDocument;
  if (!defaultView?.MutationObserver) return () => {};
  const observer = new defaultView.MutationObserver(changed);
  for (const node of [documentElement, body])
    if (node) observer.observe(node, { attributes: true, attributeFilter: ["class", "data-theme"] });
  return () => observer.disconnect();
}
