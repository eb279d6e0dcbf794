// What meterd tells of itself: everything once, then what changes (server-sent events).

export const state = {
  meters: new Map(),
  adapters: [],
  store: null,
  cloud: null,
  sync: null,
  refreshVersion: 0,
  /** What this page may do: {"login", "may_change"}. */
  session: { login: "none", may_change: false },
  /** Whether news come in. */
  isLive: false,
  /** The host's calendar less this browser's, ms. */
  clockOffset: 0,
};

const listeners = new Set();

/** Calls back after each change with what changed; returns what ends that. */
export function listen(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function tell(change) { for (const listener of [...listeners]) listener(change); }

/** Milliseconds since a meter's status was told. */
export const passed = (meter) => performance.now() - meter.toldAt;

let source = null;
let retry;

export function start() {
  stop();
  source = new EventSource("/v1/live");
  source.addEventListener("all", (event) => take(JSON.parse(event.data), true));
  source.addEventListener("changes", (event) => take(JSON.parse(event.data), false));
  source.addEventListener("error", () => {
    setLive(false);
    // The browser tries again by itself, except where the answer was a refusal.
    if (source.readyState !== EventSource.CLOSED) return;
    document.dispatchEvent(new CustomEvent("stream-refused"));
    clearTimeout(retry);
    retry = setTimeout(start, 3000);
  });
}

export function stop() {
  clearTimeout(retry);
  source?.close();
  source = null;
  setLive(false);
}

function setLive(isLive) {
  if (state.isLive === isLive) return;
  state.isLive = isLive;
  tell({ link: true });
}

function take(body, isAll) {
  const change = { all: isAll, at: body.at, meters: [] };
  const now = performance.now();
  state.clockOffset = body.at - Date.now();
  if (isAll) state.meters.clear();
  for (const meter of body.meters ?? []) {
    meter.toldAt = now;
    /** When the reading was taken, by the host's calendar. */
    meter.readAt = meter.reading && meter.age_ms !== null ? body.at - meter.age_ms : null;
    state.meters.set(meter.id, meter);
    change.meters.push(meter.id);
  }
  for (const key of ["adapters", "store", "cloud", "sync"]) {
    if (body[key] === undefined && !isAll) continue;
    state[key] = body[key] ?? (key === "adapters" ? [] : null);
    change[key] = true;
  }
  if (body.refresh_version !== undefined) {
    change.refresh = isAll || body.refresh_version !== state.refreshVersion;
    state.refreshVersion = body.refresh_version;
  }
  state.isLive = true;
  change.link = true;
  tell(change);
}
