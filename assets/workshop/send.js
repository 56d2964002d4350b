// From the main page to the class: the presenter's browser knows the workshop that it leads, others know of none.

const KEPT = "specdemo-workshop";

/** {code, secret, base} of the workshop that this browser leads, or null. */
export function led() {
  try {
    return JSON.parse(window.localStorage.getItem(KEPT) ?? "null");
  } catch {
    return null;
  }
}

/** Forgets it: it is over, or another one has begun. */
export function forget() {
  window.localStorage.removeItem(KEPT);
}

/** Shows a trace to the class from its start. Resolves to null, or to a sentence in every language. */
export async function sendToClass({ secret, base }, trace, title, offline) {
  const post = async (path, body, headers) => {
    const answer = await window.fetch(`${base}/${path}`, { method: "POST", body, headers: { authorization: `Bearer ${secret}`, ...headers } });
    const value = await answer.json().catch(() => ({}));
    if (!answer.ok) throw Object.assign(new Error(value.error), { texts: value.texts, over: answer.status === 403 || answer.status === 404 });
    return value;
  };
  try {
    const { id } = await post(`traces?title=${encodeURIComponent(title)}`, trace, {});
    const place = { trace: id, step: 0, speed: 0, revealed: 0, scene: "", view: "run", by: "main-page" };
    await post("place", JSON.stringify(place), { "content-type": "application/json" });
    return null;
  } catch (error) {
    if (error.over) forget();
    return error.texts ?? offline;
  }
}
