// What meterd says: everything once, then what changes (server-sent events), and whether it can still be heard.

export const state = {
  meters: new Map(),
  adapters: [],
  store: null,
  cloud: null,
  sync: null,
  refreshVersion: 0,
  alertsRaised: 0,
  /** What this page may do: {"login", "may_change"}. */
  session: { login: "none", may_change: false },
  /** Whether meterd was heard within the last seconds. */
  isLive: false,
  /** When it was heard last: by the page's own clock, and as a time of day. Null before the first time. */
  heardAt: null,
  heardTime: null,
  /** When the page began to listen. */
  startedAt: 0,
  /** The host's calendar less this browser's, ms. */
  clockOffset: 0,
};

// The stream says nothing while nothing changes, so silence alone proves nothing. After QUIET_MS of it the page asks, and
// without an answer within ANSWER_MS meterd counts as lost: together less than 3 s.
const [QUIET_MS, ANSWER_MS] = [1000, 1500];
/** Whoever begins to listen and hears nothing for so long is told. */
export const SLOW_MS = 3000;
/** A stream that is silent for longer is opened again, even if meterd answers: its connection may be dead. */
const STREAM_SILENCE_MS = 20000;
const TICK_MS = 250;
/** For how long a hidden page goes on listening. */
const HIDDEN_MS = 20000;

const listeners = new Set();

/** Calls back after each change with what changed; returns what ends that. */
export function listen(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function tell(change) { for (const listener of [...listeners]) listener(change); }

/** Milliseconds since a meter's status was told. */
export const passed = (meter) => performance.now() - meter.toldAt;

/** The same, as far as meterd has been heard since: what it counts down stops when it falls silent. */
export const confirmed = (meter) => Math.max(0, (state.isLive ? performance.now() : state.heardAt ?? 0) - meter.toldAt);

/** The time by the host's calendar, ms. */
export const hostNow = () => Date.now() + state.clockOffset;

let source = null;
let retryAt = 0;
let eventAt = 0;
let isAsking = false;
let isWanted = false;
let isSlowTold = false;
let ticking;

export function start() {
  stop();
  isWanted = true;
  state.startedAt = performance.now();
  isSlowTold = false;
  open();
  ticking = setInterval(tick, TICK_MS);
}

export function stop() {
  isWanted = false;
  clearInterval(ticking);
  source?.close();
  source = null;
  setLive(false);
}

// A browser opens six connections to a host at most, and a page that nobody sees would hold one of them: other tabs, and
// pages that the browser keeps for its back button.
function pause() {
  const wasWanted = isWanted;
  stop();
  isWanted = wasWanted;
  state.heardTime = null;
}

function goOn() { if (isWanted && source === null) start(); }

let hiding;
addEventListener("pagehide", pause);
addEventListener("pageshow", goOn);
document.addEventListener("visibilitychange", () => {
  clearTimeout(hiding);
  if (document.hidden) hiding = setTimeout(pause, HIDDEN_MS);
  else goOn();
});

function open() {
  source?.close();
  retryAt = Infinity;
  eventAt = performance.now();
  source = new EventSource("v1/live");
  source.addEventListener("all", (event) => take(JSON.parse(event.data), true));
  source.addEventListener("changes", (event) => take(JSON.parse(event.data), false));
  source.addEventListener("error", () => {
    // Closed at once, so that the page and not the browser decides when to try again.
    const isRefused = source.readyState === EventSource.CLOSED;
    source.close();
    retryAt = performance.now() + 1000;
    setLive(false);
    if (isRefused) document.dispatchEvent(new CustomEvent("stream-refused"));
  });
}

function tick() {
  const now = performance.now();
  if (now > retryAt || now - eventAt > STREAM_SILENCE_MS) open();
  const quiet = state.heardAt === null ? Infinity : now - state.heardAt;
  if (quiet > QUIET_MS + ANSWER_MS + TICK_MS) setLive(false);
  if (quiet > QUIET_MS && !isAsking && state.isLive) ask();
  if (!state.isLive && state.heardTime === null && !isSlowTold && now - state.startedAt > SLOW_MS) {
    isSlowTold = true;
    tell({ link: true });
  }
}

/** Whether meterd answers anything at all. */
async function ask() {
  isAsking = true;
  try {
    await fetch("v1/version", { cache: "no-store", signal: AbortSignal.timeout(ANSWER_MS) });
    if (source?.readyState === EventSource.OPEN) hear();
  } catch {
    setLive(false);
    // A daemon that hangs keeps its stream open; a new one proves that it is back.
    retryAt = performance.now() + 1000;
  } finally {
    isAsking = false;
  }
}

function hear() {
  state.heardAt = performance.now();
  state.heardTime = Date.now();
  setLive(true);
}

function setLive(isLive) {
  if (state.isLive === isLive) return;
  state.isLive = isLive;
  tell({ link: true });
}

function take(body, isAll) {
  const change = { all: isAll, at: body.at, meters: [], link: true };
  const now = performance.now();
  eventAt = now;
  if (isAll) change.isBack = !state.isLive;
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
  if (body.alerts_raised !== undefined) {
    change.alerts = change.isBack || body.alerts_raised !== state.alertsRaised;
    state.alertsRaised = body.alerts_raised;
  }
  if (body.refresh_version !== undefined) {
    // The first time there is nothing to do again: each view has just asked for what it shows.
    change.refresh = state.heardAt !== null && (change.isBack || body.refresh_version !== state.refreshVersion);
    state.refreshVersion = body.refresh_version;
  }
  state.heardAt = now;
  state.heardTime = Date.now();
  state.isLive = true;
  tell(change);
}
