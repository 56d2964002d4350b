// Requests to a workshop and the stream of its states. Knows addresses and headers, nothing of what is shown.

const SILENCE_MS = 40_000;
const RETRY_MS = [300, 1000, 2000, 4000];
const NAME = "specdemo-attendee";
const GONE = [403, 404];

/** A refusal of the server: `texts` says why in every language, `status` is that of the answer. */
export class Refusal extends Error {
  constructor(status, body) {
    super(body?.error ?? String(status));
    Object.assign(this, { status, key: body?.error ?? "", texts: body?.texts ?? null });
  }
}

/** The attendee's random name, kept by the browser; for this page alone where it keeps nothing. */
export function attendee(store) {
  const fresh = () => [...window.crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  try {
    const name = store.getItem(NAME) ?? fresh();
    store.setItem(NAME, name);
    return name;
  } catch {
    return fresh();
  }
}

export class Wire {
  /** base: the address of the workshop. secret: the presenter's, or "". me: the attendee's random name. */
  constructor(base, secret, me) {
    Object.assign(this, { base, headers: secret ? { authorization: `Bearer ${secret}` } : { "x-attendee": me } });
  }

  async answer(path, options = {}) {
    const answer = await window.fetch(`${this.base}/${path}`, { ...options, headers: { ...this.headers, ...options.headers } });
    if (!answer.ok) throw new Refusal(answer.status, await answer.json().catch(() => null));
    return answer;
  }

  async get(path) {
    return (await this.answer(path, { cache: path.startsWith("traces/") || path.startsWith("questions/") ? "default" : "no-store" })).json();
  }

  async text(path) {
    return (await this.answer(path)).text();
  }

  send(path, value, options) {
    return this.answer(path, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(value), ...options });
  }

  async post(path, value) {
    return (await this.send(path, value)).json();
  }

  /** Calls back with every line of a growing answer, in groups as they come. */
  async lines(path, value, react, signal) {
    const answer = await this.send(path, value, { signal });
    let rest = "";
    for await (const text of pieces(answer)) {
      const whole = (rest + text).split("\n");
      rest = whole.pop();
      react(whole.filter(Boolean));
    }
  }

  /**
   * Listens for good. state(value) at every state; link(true or false) when the connection is there or lost;
   * gone(error) once the server says that this page has no business here any more: then it ends.
   */
  async listen({ state, link, gone }) {
    let last = "";
    for (let failed = 0; ; ) {
      try {
        await this.hear(last, (name, value) => {
          failed = 0;
          last = name;
          link(true);
          state(value);
        }, () => link(true));
      } catch (error) {
        if (GONE.includes(error.status)) return gone(error);
      }
      link(false);
      const wait = RETRY_MS[Math.min(failed++, RETRY_MS.length - 1)];
      await new Promise((go) => window.setTimeout(go, wait * (0.7 + 0.6 * Math.random())));
    }
  }

  async hear(last, react, opened) {
    const control = new AbortController();
    let watchdog;
    const awake = () => {
      window.clearTimeout(watchdog);
      watchdog = window.setTimeout(() => control.abort(), SILENCE_MS);
    };
    awake();
    try {
      const answer = await this.answer("events", { signal: control.signal, cache: "no-store", headers: last ? { "last-event-id": last } : {} });
      opened();
      let rest = "";
      for await (const text of pieces(answer)) {
        awake();
        const events = (rest + text).split("\n\n");
        rest = events.pop();
        for (const event of events) take(event, react);
      }
    } finally {
      window.clearTimeout(watchdog);
    }
  }
}

function take(event, react) {
  const fields = Object.fromEntries(event.split("\n").map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 2)]));
  if (fields.event === "state") react(fields.id, JSON.parse(fields.data));
}

async function* pieces(answer) {
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}
