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

/** Changes what a view shows in its address, without a step in the browser's history. A view that was left changes nothing. */
export function replaceAddress(path, values) {
  if (String(readAddress(location.hash).path) !== String(path)) return;
  history.replaceState(null, "", writeAddress(path, values));
}
