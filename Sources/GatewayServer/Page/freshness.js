// Whether what the page shows of a meter is true now. It is while the page hears meterd and meterd hears the meter;
// otherwise it is old, and which of the two is missing is said.
import { passed, SLOW_MS, state } from "./live.js";
import { clockWords, span } from "./words.js";

/** A reading older than this is not called live, unless the meter is asked more rarely. */
const FRESH_MS = 2500;
/** While meterd has not been heard for longer, nobody can say that it is the meter that is silent. */
const DOUBT_MS = 1500;

const STATES = {
  "offline": "Offline",
  "not-connected": "Not connected",
  "connecting": "Connecting",
  "connected": "Connected",
  "ready": "Ready",
  "communicating": "Waiting for data",
  "data-available": "Live",
};
/** States in which a link is being made or used, and nothing has come. */
const WAITING = new Set(["connecting", "connected", "ready", "communicating"]);

/** How old a meter's last reading is, ms; null if it has none. */
export const ageOf = (meter) => meter.age_ms === null ? null : meter.age_ms + passed(meter);

const freshFor = (meter) => Math.max(FRESH_MS, meter.poll_interval_ms ? meter.poll_interval_ms * 2 + 500 : 0);

/**
 * What may be said of a meter at this moment.
 *
 * `tone` is `live`, `wait` (a link is being made), `silent` (the meter is not heard), `off` or `old` (meterd is not heard).
 */
export function standing(meter) {
  const age = ageOf(meter);
  const isDoubtful = performance.now() - state.heardAt > DOUBT_MS && age !== null && age > freshFor(meter);
  if (!state.isLive || isDoubtful) return { isLive: false, tone: "old", age, word: age === null ? "Not known" : `${span(age)} old` };
  const holder = meter.lease?.holder ?? "another host";
  if (meter.unshared) return { isLive: false, tone: "off", age, word: `At ${holder}, not shared` };
  const isFresh = age !== null && age <= freshFor(meter);
  const there = meter.holder_state;
  const isElse = Boolean(meter.measured_by) || (meter.lease?.state === "elsewhere" && Boolean(there));
  const current = isElse ? there ?? "data-available" : meter.state;
  const place = isElse ? ` at ${meter.measured_by ?? holder}` : "";
  if (current === "data-available") {
    if (isFresh) return { isLive: true, tone: "live", age, word: `Live${place}` };
    return { isLive: false, tone: "silent", age, word: age === null ? `Waiting for data${place}` : `Silent for ${span(age)}` };
  }
  if (current === "communicating" && age !== null) return { isLive: false, tone: "silent", age, word: `Silent for ${span(age)}` };
  return { isLive: false, tone: WAITING.has(current) ? "wait" : "off", age, word: `${STATES[current] ?? current}${place}` };
}

/** Why a meter's values are old, as a sentence with the age; empty while they are live. */
export function lossWords({ isLive, age, tone }) {
  if (isLive || age === null) return "";
  const past = `values are ${span(age)} old`;
  if (tone === "old") return `meterd does not answer: ${past}`;
  return tone === "silent" ? `the meter is silent: ${past}` : past;
}

/** When meterd was heard last, as the page says it. */
export function linkWords() {
  if (state.isLive) return "Live";
  if (state.heardTime === null) return performance.now() - state.startedAt < SLOW_MS ? "Connecting …" : "meterd does not answer";
  const time = clockWords(new Date(state.heardTime));
  return `meterd does not answer since ${time}`;
}
