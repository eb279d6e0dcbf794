// The small curve of a card: two minutes of a meter's power, filled from the store, broken where nothing was read.
import { setAttribute, setText, svg } from "./dom.js";
import { hostNow, listen, state } from "./live.js";
import { append, dropBefore, emptyTrack, joined, loadSeries } from "./series.js";
import { digitsFor } from "./words.js";

const SPAN_MS = 120000;
const KEY = "power_W";
/** Two points are as near as the curve can show. */
const POINTS = 240;
/** The least height of the curve, W: the last digit of a meter is no wave. */
const ROOM_MIN = 0.1;

const trails = new Map();

listen((change) => {
  // What came while the page heard nothing is in the store.
  if (change.isBack) for (const trail of trails.values()) trail.isFilled = false;
  for (const id of change.meters ?? []) {
    const meter = state.meters.get(id);
    if (!meter.readAt || !meter.reading) continue;
    const { track } = trailOf(id);
    append(track, meter.readAt, meter.reading);
    dropBefore(track, meter.readAt - SPAN_MS);
  }
});

function trailOf(id) {
  if (!trails.has(id)) trails.set(id, { track: emptyTrack([KEY]), isFilled: false });
  return trails.get(id);
}

const queue = [];
let running = 0;

/** Fills a trail from the store; a few at a time, for there may be many meters. */
function fill(id) {
  const trail = trailOf(id);
  if (trail.isFilled || !state.isLive) return;
  trail.isFilled = true;
  queue.push(async () => {
    try {
      const now = hostNow();
      const past = await loadSeries(id, now - SPAN_MS, now + 1000, POINTS, [KEY]);
      trail.track = joined(past, trail.track);
    } catch { /* The curve then begins with what comes. */ }
  });
  work();
}

function work() {
  while (running < 4 && queue.length > 0) {
    running += 1;
    queue.shift()().finally(() => { running -= 1; work(); });
  }
}

/** The curve and the words below it. */
export function spark(id) {
  const line = svg("path", { d: "", fill: "none", "vector-effect": "non-scaling-stroke" });
  const element = svg("svg", { class: "curve", viewBox: "0 0 240 40", preserveAspectRatio: "none", "aria-hidden": "true" }, line);

  function draw(caption) {
    fill(id);
    const { track } = trailOf(id);
    const end = hostNow();
    const values = [];
    for (let index = 0; index < track.t.length; index += 1) {
      const value = track.columns[KEY].mean[index];
      if (track.t[index] >= end - SPAN_MS && value !== null) values.push(value);
    }
    setAttribute(element, "hidden", values.length === 0);
    if (values.length === 0) {
      line.setAttribute("d", "");
      setText(caption, "no power in the last 2 min");
      return;
    }
    const [low, high] = values.reduce(([least, most], value) => [Math.min(least, value), Math.max(most, value)], [Infinity, -Infinity]);
    const room = Math.max(high - low, ROOM_MIN);
    const middle = (low + high) / 2;
    line.setAttribute("d", pathOf(track, end, (value) => 20 - (value - middle) / room * 34));
    const digits = Math.min(digitsFor(high), high - low > 1 ? 1 : 2);
    setText(caption, `${low.toFixed(digits)} to ${high.toFixed(digits)} W · 2 min`);
  }
  return { element, draw };
}

function pathOf({ t, gap, columns }, end, y) {
  const values = columns[KEY].mean;
  let path = "";
  let last = null;
  for (let index = 0; index < t.length; index += 1) {
    if (values[index] === null) {
      last = null;
      continue;
    }
    const x = 240 - (end - t[index]) / SPAN_MS * 240;
    if (x < 0) continue;
    const isBroken = last === null || t[index] - last > gap;
    // A lone point is a dot: a line of no length with a round end.
    path += isBroken ? `M${x.toFixed(1)},${y(values[index]).toFixed(1)}h0` : `L${x.toFixed(1)},${y(values[index]).toFixed(1)}`;
    last = t[index];
  }
  return path;
}
