// Time and motion as the browser knows them.

/** The frames of a window as a clock: {now() in ms, request(callback), cancel(id)}. */
export function frames(window) {
  return {
    now: () => window.performance.now(),
    request: (callback) => window.requestAnimationFrame(callback),
    cancel: (id) => window.cancelAnimationFrame(id),
  };
}

/** True if the reader asked for less motion. */
export function reducesMotion(window) {
  return Boolean(window?.matchMedia?.("(prefers-reduced-motion: reduce)").matches);
}
