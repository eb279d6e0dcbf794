// Why there are no readings in some time, as far as the meter's log knows.
import { call, meterPath } from "./api.js";
import { span } from "./words.js";

/** Asked again at most so often: other hosts are asked too. */
const PACE_MS = 30000;

const STATES = {
  "offline": "the meter was out of reach", "not-connected": "the link was lost", "connecting": "no link: it was being made",
  "communicating": "the meter was silent", "ready": "the meter was silent", "connected": "no link: it was being made",
};

/** The log of a meter, and what it says about gaps. */
export function gapReasons(id) {
  let lines = [];
  let askedAt = -Infinity;
  let since = Infinity;

  /** Has what happened since a time; `done` is called when there is more to say. */
  async function load(from, done) {
    const isKnown = from >= since && performance.now() - askedAt < PACE_MS;
    if (isKnown) return;
    askedAt = performance.now();
    since = Math.min(since, from);
    try {
      const answer = await call("GET", meterPath(id, `/log?limit=2000&since=${Math.round(since)}`));
      lines = answer.log.map((line) => ({ ...line, from: Date.parse(line.at), to: line.until === null ? Infinity : Date.parse(line.until) }));
      done();
    } catch { /* A gap is a gap also where nobody knows why. */ }
  }

  /** The cause in few words; empty where the log has none. */
  function why(from, to) {
    const touching = lines.filter((line) => line.from < to && line.to > from);
    const holder = touching.find((line) => line.kind === "held" && !line.mine && line.host);
    if (holder) return `held by ${holder.host}`;
    // A holding of this host that ends as the gap begins says how; a state says what was wrong.
    const near = (line) => line.from >= from - 15000 && line.from <= to;
    const command = lines.find((line) => line.kind === "command" && near(line) && /disconnect/.test(line.what));
    if (command) return `disconnected${command.by ? ` at ${command.by}` : ""}`;
    const state = lines.find((line) => line.kind === "state" && line.mine && near(line) && line.what in STATES && line.what !== "connecting");
    if (state) return state.detail ? `${STATES[state.what]} (${state.detail})` : STATES[state.what];
    // While the daemon is off nothing is logged, and as it comes back it finds the meter anew.
    const again = lines.find((line) => line.kind === "state" && line.mine && line.from > from && line.from <= to + 5000);
    return again && !touching.some((line) => line.mine && line.from <= from && line.to >= to) ? "meterd was off" : "";
  }

  const words = (from, to) => {
    const cause = why(from, to);
    return `no reading for ${span(to - from)}${cause ? `: ${cause}` : ""}`;
  };
  return { load, why, words };
}
