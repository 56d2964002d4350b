// A document small enough to read: what the player uses of the DOM, and a serialiser to compare pages with.

class Node {
  constructor(document) {
    this.ownerDocument = document;
    this.parentNode = null;
    this.childNodes = [];
  }

  get firstChild() {
    return this.childNodes[0] ?? null;
  }

  get lastChild() {
    return this.childNodes.at(-1) ?? null;
  }

  get nextSibling() {
    const siblings = this.parentNode?.childNodes ?? [];
    return siblings[siblings.indexOf(this) + 1] ?? null;
  }

  insertBefore(node, before) {
    node.parentNode?.removeChild(node);
    node.parentNode = this;
    this.childNodes.splice(before ? this.childNodes.indexOf(before) : this.childNodes.length, 0, node);
    return node;
  }

  appendChild(node) {
    return this.insertBefore(node, null);
  }

  removeChild(node) {
    const at = this.childNodes.indexOf(node);
    if (at < 0) throw new Error("not a child");
    if (node.contains(this.ownerDocument.activeElement)) this.ownerDocument.activeElement = null;
    this.childNodes.splice(at, 1);
    node.parentNode = null;
    return node;
  }

  replaceChild(node, old) {
    this.insertBefore(node, old);
    return this.removeChild(old);
  }

  contains(node) {
    for (let at = node; at; at = at.parentNode) if (at === this) return true;
    return false;
  }

  get textContent() {
    return this.nodeType === 3 ? this.data : this.childNodes.map((child) => child.textContent).join("");
  }

  set textContent(text) {
    for (const child of [...this.childNodes]) this.removeChild(child);
    if (text !== "") this.appendChild(this.ownerDocument.createTextNode(text));
  }
}

class Text extends Node {
  constructor(document, data) {
    super(document);
    this.nodeType = 3;
    this.data = data;
  }
}

class Element extends Node {
  constructor(document, name, namespace) {
    super(document);
    this.nodeType = 1;
    this.localName = name;
    this.tagName = name.toUpperCase();
    this.namespaceURI = namespace;
    this.attributes = new Map();
    this.listeners = [];
    this.clientWidth = 0;
  }

  getAttributeNames() {
    return [...this.attributes.keys()];
  }

  getAttribute(name) {
    return this.attributes.get(name) ?? null;
  }

  setAttribute(name, value) {
    this.attributes.set(name, String(value));
  }

  removeAttribute(name) {
    this.attributes.delete(name);
  }

  get className() {
    return this.getAttribute("class") ?? "";
  }

  set className(value) {
    this.setAttribute("class", value);
  }

  get children() {
    return this.childNodes.filter((node) => node.nodeType === 1);
  }

  get classList() {
    const names = () => this.className.split(/\s+/).filter(Boolean);
    const write = (list) => this.setAttribute("class", list.join(" "));
    const list = {
      contains: (name) => names().includes(name),
      add: (...added) => write([...new Set([...names(), ...added])]),
      remove: (...gone) => write(names().filter((name) => !gone.includes(name))),
      toggle: (name, on) => (on ? list.add(name) : list.remove(name)),
    };
    return list;
  }

  matches(selectors) {
    return selectors.split(",").some((selector) => {
      const parts = selector.trim().match(/[.#]?[\w-]+|\[[^\]]+\]/g);
      return parts.every((part) => {
        if (part.startsWith(".")) return this.classList.contains(part.slice(1));
        if (!part.startsWith("[")) return this.localName === part;
        const [, name, value] = /\[([\w-]+)(?:="?([^"\]]*)"?)?\]/.exec(part);
        return value === undefined ? this.attributes.has(name) : this.getAttribute(name) === value;
      });
    });
  }

  closest(selector) {
    for (let node = this; node && node.nodeType === 1; node = node.parentNode) if (node.matches(selector)) return node;
    return null;
  }

  /** Every element below that fits a compound selector (no combinators). */
  all(selector) {
    return this.children.flatMap((child) => [...(child.matches(selector) ? [child] : []), ...child.all(selector)]);
  }

  one(selector) {
    return this.all(selector)[0] ?? null;
  }

  querySelector(selector) {
    return this.one(selector);
  }

  focus() {
    this.ownerDocument.activeElement = this;
  }

  addEventListener(name, listener) {
    this.listeners.push([name, listener]);
  }

  removeEventListener(name, listener) {
    this.listeners = this.listeners.filter(([known, it]) => known !== name || it !== listener);
  }

  /** Sends an event up from this node; returns it. */
  send(name, fields = {}) {
    const event = {
      target: this,
      defaultPrevented: false,
      preventDefault: () => (event.defaultPrevented = true),
      ...fields,
    };
    for (let node = this; node; node = node.parentNode)
      for (const [known, listener] of node.listeners ?? []) if (known === name) listener(event);
    return event;
  }
}

const escape = (text) => text.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);

/** The markup of a node; equal pages have equal markup. */
export function markup(node) {
  if (node.nodeType === 3) return escape(node.data);
  const attributes = [...node.attributes]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => ` ${name}="${escape(value)}"`);
  return `<${node.localName}${attributes.join("")}>${node.childNodes.map(markup).join("")}</${node.localName}>`;
}

/** A new document with a root to mount a player in. `reduced`: the reader asked for less motion. */
export function page({ reduced = false } = {}) {
  const document = {
    activeElement: null,
    createElement: (name) => new Element(document, name, "http://www.w3.org/1999/xhtml"),
    createElementNS: (namespace, name) => new Element(document, name, namespace),
    createTextNode: (text) => new Text(document, text),
    defaultView: { matchMedia: () => ({ matches: reduced }), performance: { now: () => 0 } },
  };
  document.documentElement = document.createElement("html");
  document.body = document.documentElement.appendChild(document.createElement("body"));
  return document.body.appendChild(document.createElement("div"));
}
