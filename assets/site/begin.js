// Unpacks the page (with bunzip.js): its styles, scripts and texts stand compressed in it. `specdemoReady` is a promise of the page's handle.

// Of base 85, with "," in place of "<".
const DIGITS = `0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;,=>?@^_${"\x60"}{|}~`;

/** The text in bzip2 in base 85, as specdemo/site/packs.py packs it. */
function specdemoUnpack(packed) {
  const bytes = new Uint8Array(Math.floor((packed.length * 4) / 5));
  const values = new Map([...DIGITS].map((digit, i) => [digit, i]));
  for (let from = 0, to = 0; from < packed.length; from += 5, to += 4) {
    let four = 0;
    for (let i = 0; i < 5; i++) four = 85 * four + values.get(packed[from + i] ?? "~");
    for (let i = 0; i < 4; i++) if (to + i < bytes.length) bytes[to + i] = (four / 2 ** (24 - 8 * i)) & 255;
  }
  return new TextDecoder().decode(bunzip(bytes));
}

async function specdemoBegin() {
  const read = (id) => document.getElementById(id).textContent;
  const { style, script, texts, ...more } = JSON.parse(specdemoUnpack(read("packed")));
  const add = (name, text) => {
    document.head.appendChild(document.createElement(name)).textContent = text;
  };
  add("style", style);
  add("script", script);
  document.body.classList.add("sp-ready");
  return window.specdemo.start({ ...JSON.parse(read("given")), ...more, texts: tables(texts), unpack: specdemoUnpack });
}

// From [languages, ...[key, text in each of them]] to one table a language: so each key is there once.
function tables([languages, ...rows]) {
  return Object.fromEntries(languages.map((language, i) => [language, Object.fromEntries(rows.map(([key, ...said]) => [key, said[i]]))]));
}

const specdemoReady = specdemoBegin();
