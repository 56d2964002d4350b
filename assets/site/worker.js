// Keeps the site in the browser, so that it works without a network after the first visit. Its name for what it keeps
// comes from the files' contents: a new version is fetched whole before it takes the place of the old one.

const KEPT = "specdemo-{{version}}";
const FILES = ["{{files}}"];

self.addEventListener("install", (event) => {
  event.waitUntil(
    caches
      .open(KEPT)
      .then((kept) => kept.addAll(FILES.map((file) => new Request(file, { cache: "reload" }))))
      .then(() => self.skipWaiting()),
  );
});

self.addEventListener("activate", (event) => {
  const old = (name) => name.startsWith("specdemo-") && name !== KEPT;
  event.waitUntil(
    caches
      .keys()
      .then((names) => Promise.all(names.filter(old).map((name) => caches.delete(name))))
      .then(() => self.clients.claim()),
  );
});

// The page itself comes from the network where there is one, so that a new version is seen at once; everything else has
// its contents in its name.
self.addEventListener("fetch", (event) => {
  const { request } = event;
  if (request.method !== "GET" || new URL(request.url).origin !== self.location.origin) return;
  event.respondWith(answer(request));
});

async function answer(request) {
  const kept = await caches.open(KEPT);
  if (request.mode !== "navigate") return (await kept.match(request)) ?? fetch(request);
  try {
    return await fetch(request);
  } catch {
    return (await kept.match("./")) ?? Response.error();
  }
}
