// Opens the page without a network: its files come from meterd while that answers, else from what install.js kept.
// Everything else passes by, so no reading is ever kept.
const KEPT = `page of ${registration.scope}`;

const isFile = (request) => request.method === "GET" && request.url.startsWith(registration.scope)
  && /^([\w-]+\.(css|js|svg|webmanifest))?([?#]|$)/.test(request.url.slice(registration.scope.length));

addEventListener("install", () => skipWaiting());
addEventListener("activate", (event) => event.waitUntil(clients.claim()));
addEventListener("fetch", (event) => {
  if (isFile(event.request)) event.respondWith(answer(event.request));
});

async function answer(request) {
  // Logging out deletes what is kept, and only install.js begins it again.
  const isKept = await caches.has(KEPT);
  try {
    const response = await fetch(request);
    if (isKept && response.ok) await (await caches.open(KEPT)).put(request, response.clone());
    return response;
  } catch (error) {
    const old = isKept && await (await caches.open(KEPT)).match(request, { ignoreSearch: true, ignoreVary: true });
    if (old) return old;
    throw error;
  }
}
