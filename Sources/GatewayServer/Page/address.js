// What the address of the page says behind its #: which view, and what it shows, so that a link shows the same to others.

/** {path: ["meter", id], values: {show: "…", from: "…"}} of "#/meter/…?show=…&from=…". */
export function readAddress(hash) {
  const [path, query = ""] = hash.replace(/^#\/?/, "").split("?");
  return {
    path: path.split("/").filter(Boolean).map(decodeURIComponent),
    values: Object.fromEntries(new URLSearchParams(query)),
  };
}

export function writeAddress(path, values) {
  const query = new URLSearchParams(Object.entries(values).filter(([, value]) => value !== null && value !== undefined && value !== ""));
  const text = String(query).replaceAll("%2C", ",");
  return `#/${path.map(encodeURIComponent).join("/")}${text ? `?${text}` : ""}`;
}

/** Browsers refuse an address that changes more often for long. */
const PACE_MS = 400;

let wanted = null;
let writing = null;

/**
 * Changes what a view shows in its address, a moment later and without a step in the browser's history. A view that was
 * left changes nothing.
 */
export function replaceAddress(path, values) {
  wanted = { path: String(path), text: writeAddress(path, values) };
  writing ??= setTimeout(write, PACE_MS);
}

function write() {
  writing = null;
  if (String(readAddress(location.hash).path) !== wanted.path || location.hash === wanted.text) return;
  history.replaceState(null, "", wanted.text);
}
