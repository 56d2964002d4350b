// Descriptions of elements, and a patch that makes the page equal to them. Knows the DOM, nothing of what is drawn.
// Because every view is a pure description, the same position gives the same page whatever was shown before.

const SVG = "http://www.w3.org/2000/svg";

/**
 * Describes an element. Children: descriptions, strings, DOM nodes (placed as they are), arrays; null and false are left out.
 * attributes.key: its name among its siblings; a patch then finds its node behind ones that are gone, and takes no other.
 */
export function h(tag, attributes, ...children) {
  const shown = children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false);
  const { key = null, ...rest } = attributes || {};
  return { tag, key, attributes: rest, children: shown };
}

/** Makes the children of `parent` equal to the descriptions, reusing nodes in order so that focus and scroll survive. */
export function patch(parent, children) {
  let node = parent.firstChild;
  for (const child of children) {
    if (child.nodeType) {
      if (child === node) node = node.nextSibling;
      else parent.insertBefore(child, node);
    } else if (typeof child !== "object") {
      node = patchText(parent, node, String(child));
    } else {
      node = patchElement(parent, node, child);
    }
  }
  while (node) {
    const next = node.nextSibling;
    parent.removeChild(node);
    node = next;
  }
}

/** A new element as described. */
export function build(document, description, namespace) {
  const svg = description.tag === "svg" || namespace === SVG;
  const node = svg ? document.createElementNS(SVG, description.tag) : document.createElement(description.tag);
  node.sdKey = description.key;
  setAttributes(node, description.attributes);
  patch(node, description.children);
  setValue(node, description.attributes);
  return node;
}

function patchText(parent, node, text) {
  if (node && node.nodeType === 3) {
    if (node.data !== text) node.data = text;
    return node.nextSibling;
  }
  parent.insertBefore(parent.ownerDocument.createTextNode(text), node);
  return node;
}

function patchElement(parent, node, description) {
  if (description.key !== null) node = found(parent, node, description);
  if (!fits(node, description)) {
    parent.insertBefore(build(parent.ownerDocument, description, parent.namespaceURI), node);
    return node;
  }
  setAttributes(node, description.attributes);
  patch(node, description.children);
  setValue(node, description.attributes);
  return node.nextSibling;
}

function fits(node, { tag, key }) {
  return node?.nodeType === 1 && node.localName === tag && !node.sdKept && (node.sdKey ?? null) === key;
}

// The node of that key, from `node` on, after what stands before it is taken away; `node` itself if there is none.
function found(parent, node, description) {
  let at = node;
  while (at && !fits(at, description)) at = at.nextSibling;
  while (at && node !== at) {
    const next = node.nextSibling;
    parent.removeChild(node);
    node = next;
  }
  return node;
}

function setAttributes(node, attributes) {
  for (const name of node.getAttributeNames()) {
    if (attributes[name] === undefined || attributes[name] === null || attributes[name] === false)
      node.removeAttribute(name);
  }
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "value" || value === undefined || value === null || value === false) continue;
    const text = value === true ? "" : String(value);
    if (node.getAttribute(name) !== text) node.setAttribute(name, text);
  }
}

// After the children, because a <select> takes its value from its options. What a hand has set no longer listens to its
// attribute.
function setValue(node, { type, value, checked }) {
  if (type === "checkbox" || type === "radio") node.checked = Boolean(checked);
  if (value !== undefined && !holds(node, type, String(value))) node.value = String(value);
}

// While a number is being written it may look otherwise, or be none yet.
function holds(node, type, value) {
  if (type !== "number" || node.value === value) return node.value === value;
  return node === node.ownerDocument.activeElement && (node.value === "" || Number(node.value) === Number(value));
}

/** Marks a node as placed by hand: a patch never rewrites it into something else. */
export function kept(node) {
  node.sdKept = true;
  return node;
}
