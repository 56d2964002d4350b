// How much of the window's foot the closed dock covers, for what sticks to the foot itself.

/** Keeps the variable `--sd-below` of `root` at the height of the closed dock; opened, it covers what it covers. */
export function watchDock(root, dock) {
  const measure = () => {
    if (!dock.classList.contains("sp-open")) root.style.setProperty("--sd-below", `${dock.offsetHeight}px`);
  };
  new ResizeObserver(measure).observe(dock);
  measure();
}
