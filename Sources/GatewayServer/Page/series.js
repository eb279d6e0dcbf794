// Stored readings over time, as meterd has thinned them out for a chart.
import { call, meterPath } from "./api.js";

/** Silence longer than this is a gap where the host has not said otherwise, ms. */
export const GAP_MS = 10000;

/**
 * One meter's readings in columns: `t` in ms of the host's calendar, and by quantity the least, mean and greatest of each
 * point. A point of nulls, or a step of more than `gap` ms, is a gap.
 */
export const emptyTrack = (keys) => ({
  t: [], gap: GAP_MS, columns: Object.fromEntries(keys.map((key) => [key, { min: [], mean: [], max: [] }])),
});

export async function loadSeries(id, from, to, points, keys) {
  const query = `from=${Math.round(from)}&to=${Math.round(to)}&points=${points}&quantities=${keys.join(",")}`;
  return track(await call("GET", meterPath(id, `/series?${query}`)), keys);
}

export async function loadRecordingSeries(id, points, keys) {
  return track(await call("GET", `v1/recordings/${encodeURIComponent(id)}/series?points=${points}&quantities=${keys.join(",")}`), keys);
}

function track(answer, keys) {
  const start = Date.parse(answer.start);
  // Each an array of its own: readings are added to all of them.
  const nothing = () => answer.t_ms.map(() => null);
  return {
    t: answer.t_ms.map((offset) => start + offset), gap: answer.gap_ms,
    columns: Object.fromEntries(keys.map((key) =>
      [key, answer.series[key] ?? { min: nothing(), mean: nothing(), max: nothing() }])),
  };
}

/** Adds one reading at the end, with the least and greatest around it if a fast meter has them; an older one is left out. */
export function append(into, time, reading, spread) {
  if (into.t.length && into.t[into.t.length - 1] >= time) return false;
  into.t.push(time);
  for (const [key, column] of Object.entries(into.columns)) {
    const value = Number.isFinite(reading[key]) ? reading[key] : null;
    column.min.push(value === null ? null : Math.min(value, spread?.least[key] ?? value));
    column.mean.push(value);
    column.max.push(value === null ? null : Math.max(value, spread?.greatest[key] ?? value));
  }
  return true;
}

/** A track with what another has after its end. */
export function joined(past, later) {
  const last = past.t.length ? past.t[past.t.length - 1] : -Infinity;
  for (let index = 0; index < later.t.length; index += 1) {
    if (later.t[index] <= last) continue;
    past.t.push(later.t[index]);
    for (const [key, column] of Object.entries(past.columns)) {
      for (const part of ["min", "mean", "max"]) column[part].push(later.columns[key]?.[part][index] ?? null);
    }
  }
  return past;
}

/** Forgets what is older than a time, but for the point before it, from which the line comes in. */
export function dropBefore(from, time) {
  let count = 0;
  while (count + 1 < from.t.length && from.t[count + 1] < time) count += 1;
  if (count === 0) return;
  from.t.splice(0, count);
  for (const column of Object.values(from.columns)) for (const part of ["min", "mean", "max"]) column[part].splice(0, count);
}

/** The index of the point nearest to a time; -1 if there are none. */
export function nearest(times, time) {
  if (times.length === 0) return -1;
  let [low, high] = [0, times.length - 1];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (times[middle] <= time) low = middle; else high = middle;
  }
  return Math.abs(times[low] - time) <= Math.abs(times[high] - time) ? low : high;
}

/** Stretches without readings between two times of a track: [from, to]. */
export function gapsOf({ t, gap, columns }) {
  const values = Object.values(columns).map((column) => column.mean);
  const found = [];
  let last = null;
  for (let index = 0; index < t.length; index += 1) {
    let isKnown = false;
    for (const column of values) isKnown ||= column[index] !== null;
    if (!isKnown) continue;
    if (last !== null && t[index] - last > gap) found.push([last, t[index]]);
    last = t[index];
  }
  return found;
}
