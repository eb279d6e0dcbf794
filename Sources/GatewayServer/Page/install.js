// Keeps the page's files in the browser, so that it can be installed and opens without a network.

const HERE = new URL("./", location.href).href;
/** The same as in worker.js, which works at this address. */
const KEPT = `page of ${HERE}`;

let reason = window.top !== window ? "It is not installed from within Home Assistant, but from an address of its own."
  : isSecureContext && navigator.serviceWorker && window.caches ? ""
    : "It cannot be installed here, because browsers allow that only over https with a trusted certificate, or on localhost.";

/** Whether the page can be installed, in a sentence. */
export const installWords = () => reason
  || "Your browser's menu can install it: it then opens without a network too, and says what is missing.";

// One after the other: to forget takes a while, and must not undo what a quick login keeps.
let turn = Promise.resolve();
const inTurn = (work) => { if (!reason) turn = turn.then(work); };

/** Whoever may see the page keeps its files. */
export const keepPage = () => inTurn(keep);

/** Whoever logs out leaves nothing behind. */
export const forgetPage = () => inTurn(forget);

async function keep() {
  try {
    await navigator.serviceWorker.register("worker.js");
    if (await caches.has(KEPT)) return;
    const files = performance.getEntriesByType("resource").map((one) => one.name.split(/[?#]/)[0])
      .filter((name) => name.startsWith(HERE) && !name.slice(HERE.length).includes("/") && /\.(css|js|svg)$/.test(name));
    const cache = await caches.open(KEPT);
    // What the browser has just loaded is not loaded again.
    await cache.addAll([...new Set([HERE, ...files, `${HERE}pd.js`])].map((url) => new Request(url, { cache: "force-cache" })));
  } catch (error) {
    reason = `It cannot be installed here, because the browser refuses: ${error.message}`;
    await caches.delete(KEPT).catch(() => {});
  }
}

async function forget() {
  try {
    await caches.delete(KEPT);
    await (await navigator.serviceWorker.getRegistration(HERE))?.unregister();
  } catch { /* The browser has kept nothing, then. */ }
}
