// Recorded runs that lie beside the page, each a script that hands over its compressed text: browsers let a page that was
// opened from a disk load scripts and nothing else.

/**
 * list: [{id, file}], addresses relative to `base`. unpack(packed): the text. Scripts call
 * `window.specdemoPack(id, packed)`.
 */
export class Packs {
  constructor(list, base, unpack, window) {
    this.files = new Map(list.map(({ id, file }) => [id, base + file]));
    this.unpack = unpack;
    this.document = window.document;
    this.arrived = new Map();
    this.texts = new Map();
    window.specdemoPack = (id, packed) => this.arrived.set(id, packed);
  }

  /** A promise of the trace of that name; null where there is none or its file is missing. */
  text(id) {
    if (!this.texts.has(id)) this.texts.set(id, this.load(id));
    return this.texts.get(id);
  }

  async load(id) {
    const file = this.files.get(id);
    if (file === undefined) return null;
    await this.script(file);
    if (this.arrived.has(id)) return this.unpack(this.arrived.get(id));
    // Asked for again, it is tried again.
    this.texts.delete(id);
    return null;
  }

  script(file) {
    const script = this.document.createElement("script");
    script.src = file;
    return new Promise((resolve) => {
      script.onload = script.onerror = resolve;
      this.document.head.append(script);
    });
  }

  /** All of them, one after the other: afterwards the page needs nobody. */
  async all() {
    for (const id of this.files.keys()) await this.text(id);
  }
}
