// Descriptions of elements, and a patch that makes the page equal to them. Knows the DOM, nothing of what is drawn.
// Because every view is a pure description, the same position gives the same page whatever was shown before.

const SVG = "http://www.w3.org/2000/svg";

/** Describes an element. Children: descriptions, strings, DOM nodes (placed as they are), arrays; null and false are left out. */
export function h(tag, attributes, ...children) {
  const shown = children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false);
  return { tag, attributes: attributes || {}, children: shown };
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
  if (!node || node.nodeType !== 1 || node.localName !== description.tag || node.sdKept) {
    parent.insertBefore(build(parent.ownerDocument, description, parent.namespaceURI), node);
    return node;
  }
  setAttributes(node, description.attributes);
  patch(node, description.children);
  setValue(node, description.attributes);
  return node.nextSibling;
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

// After the children, because a <select> takes its value from its options.
function setValue(node, attributes) {
  if (attributes.value !== undefined && node.value !== String(attributes.value)) node.value = String(attributes.value);
}

/** Marks a node as placed by hand: a patch never rewrites it into something else. */
export function kept(node) {
  node.sdKept = true;
  return node;
}
