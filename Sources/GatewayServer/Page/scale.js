// Where axes begin, end and have their marks. All axes of a chart share the same lines across it.
import { dayWords } from "./words.js";

const MANTISSAS = [1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8];

/** The first rounded step that is no less than `least`, and the ones after it. */
function* steps(least) {
  let power = 10 ** Math.floor(Math.log10(least));
  for (let round = 0; round < 4; round += 1, power *= 10) {
    for (const mantissa of MANTISSAS) if (mantissa * power >= least * 0.999999) yield mantissa * power;
  }
}

/** An axis of `count` equal parts that holds all values from `low` to `high` and is at least `room` high. */
export function valueAxis(low, high, count, room) {
  if (!(low <= high)) return valueAxis(0, room, count, room);
  const span = Math.max(high - low, room, 1e-9);
  const middle = (low + high) / 2;
  const [bottom, top] = [low >= 0 ? Math.max(0, Math.min(low, middle - span / 2)) : Math.min(low, middle - span / 2), Math.max(high, middle + span / 2)];
  for (const step of steps(span / count)) {
    const start = Math.floor(bottom / step + 1e-9) * step;
    if (start + step * count >= Math.min(top, Math.max(high, start + span)) - step * 1e-6) {
      return { low: start, high: start + step * count, step, count, digits: decimals(step) };
    }
  }
  return { low: bottom, high: top, step: span / count, count, digits: 3 };
}

function decimals(step) {
  for (let digits = 0; digits < 7; digits += 1) {
    if (Math.abs(step * 10 ** digits - Math.round(step * 10 ** digits)) < 1e-6 * 10 ** digits * step) return digits;
  }
  return 7;
}

const SECOND = 1000, MINUTE = 60 * SECOND, HOUR = 60 * MINUTE, DAY = 24 * HOUR;
const TIME_STEPS = [
  50, 100, 200, 500, SECOND, 2 * SECOND, 5 * SECOND, 10 * SECOND, 15 * SECOND, 30 * SECOND, MINUTE, 2 * MINUTE, 5 * MINUTE,
  10 * MINUTE, 15 * MINUTE, 30 * MINUTE, HOUR, 2 * HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR, DAY, 2 * DAY, 7 * DAY, 14 * DAY, 30 * DAY, 90 * DAY, 365 * DAY,
];
const timeStep = (span, most) => TIME_STEPS.find((one) => span / one <= most) ?? 365 * DAY;

const two = (value) => String(value).padStart(2, "0");

/** Marks of a time axis in the reader's own zone: [value, text]. */
export function timeMarks(from, to, most) {
  const step = timeStep(to - from, most);
  const shift = new Date(from).getTimezoneOffset() * MINUTE;
  const marks = [];
  for (let time = Math.ceil((from - shift) / step) * step + shift; time <= to; time += step) {
    const date = new Date(time);
    const clock = `${two(date.getHours())}:${two(date.getMinutes())}`;
    if (step >= DAY || clock === "00:00" && step >= MINUTE) marks.push([time, dayWords(date)]);
    else if (step >= MINUTE) marks.push([time, clock]);
    else marks.push([time, `${clock}:${two(date.getSeconds())}${step < SECOND ? `.${String(date.getMilliseconds()).padStart(3, "0").slice(0, 2)}` : ""}`]);
  }
  return marks;
}

/** Marks of an axis that counts time from a beginning. */
export function elapsedMarks(from, to, most) {
  const step = timeStep(to - from, most);
  const marks = [];
  for (let time = Math.ceil(from / step) * step; time <= to; time += step) marks.push([time, elapsed(time)]);
  return marks;
}

/** "1:05:00" or "5:00": hours, minutes and seconds since a beginning. */
export function elapsed(ms) {
  const seconds = Math.round(ms / 1000);
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  return hours > 0 ? `${hours}:${two(minutes)}:${two(seconds % 60)}` : `${minutes}:${two(seconds % 60)}`;
}

/** Marks of an axis of plain numbers. */
export function numberMarks(from, to, most, unit) {
  const [step] = steps(Math.max(to - from, 1e-9) / most);
  const marks = [];
  for (let value = Math.ceil(from / step) * step; value <= to + step * 1e-6; value += step) marks.push([value, `${value.toFixed(decimals(step))} ${unit}`]);
  return marks;
}
