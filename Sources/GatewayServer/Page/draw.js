// Draws a chart: axes, curves with their bands, gaps, a selected stretch, and what follows the pointer.
import { valueAxis } from "./scale.js";

/** The least room of an axis' numbers, and what each sign of the longest takes, in the size in which they are written. */
const AXES = { wide: { least: 52, sign: 7, size: 12 }, narrow: { least: 46, sign: 6.2, size: 10.5 } };
/** What is left free beside the numbers of an axis. */
const AXIS_MARGIN = 10;

/**
 * Where everything lies in a picture.
 *
 * A picture has: width, height; from, to and marks(from, to, most) of its x-axis; curves ({t, min, mean, max, gap, unit,
 * colour, letter}); flags ({name, start, end}, whose end is null while it goes on); room(unit, value), the least height of an axis whose greatest value is that; fit, which is "data" or "zero"; look, its colours.
 */
function layOut(picture) {
  const isNarrow = picture.width < 560;
  const form = AXES[isNarrow ? "narrow" : "wide"];
  const count = isNarrow ? 4 : 5;
  const units = [...new Set(picture.curves.map((curve) => curve.unit))];
  // One to the left, two to the right, and so on outwards.
  const sides = units.map((_, index) => index === 0 || index === 3 ? "left" : "right");
  const outward = { left: 0, right: 0 };
  const axes = units.map((unit, index) => {
    const curves = picture.curves.filter((curve) => curve.unit === unit);
    let [low, high] = extent(curves, picture.from, picture.to);
    if (picture.fit === "zero" && low <= high) [low, high] = [Math.min(0, low), Math.max(0, high)];
    const isShared = curves.some((curve) => curve.colour !== curves[0].colour);
    const scale = valueAxis(low, high, count, picture.room(unit, Math.max(Math.abs(low), Math.abs(high))));
    const words = Array.from({ length: count + 1 }, (_, row) =>
      `${(scale.low + scale.step * row).toFixed(scale.digits)}${row === count ? ` ${unit}` : ""}`);
    const place = outward[sides[index]];
    outward[sides[index]] += Math.max(form.least, Math.max(...words.map((word) => word.length)) * form.sign + AXIS_MARGIN);
    return { unit, colour: isShared ? picture.look.soft : curves[0].colour, side: sides[index], place, words, ...scale };
  });
  const left = outward.left || form.least;
  const right = outward.right || 0.4 * form.least;
  const box = { x: left, y: 14, width: Math.max(20, picture.width - left - right), height: Math.max(20, picture.height - 14 - 26) };
  const x = (value) => box.x + (value - picture.from) / (picture.to - picture.from) * box.width;
  const y = (axis, value) => box.y + box.height - (value - axis.low) / (axis.high - axis.low) * box.height;
  return { box, axes, count, isNarrow, size: form.size, x, y, axisOf: (curve) => axes.find((axis) => axis.unit === curve.unit) };
}

/** The least and the greatest value that is seen. */
function extent(curves, from, to) {
  let [low, high] = [Infinity, -Infinity];
  for (const { t, min, max } of curves) {
    for (let index = 0; index < t.length; index += 1) {
      if (t[index] < from || t[index] > to || min[index] === null) continue;
      if (min[index] < low) low = min[index];
      if (max[index] > high) high = max[index];
    }
  }
  return [low, high];
}

export function draw(surface, picture) {
  const plan = layOut(picture);
  const { box } = plan;
  drawGrid(surface, picture, plan);
  surface.clipped(box.x, box.y, box.width, box.height, () => {
    if (picture.select) drawBand(surface, plan, picture.select, picture.look);
    for (const gap of picture.gaps ?? []) drawGap(surface, plan, gap, picture.look);
    drawFlags(surface, plan, picture);
    for (const curve of picture.curves) drawCurve(surface, curve, plan, picture);
  });
  drawLetters(surface, plan, picture);
  return plan;
}

function drawGrid(surface, picture, { box, axes, count, x, isNarrow, size }) {
  const { look } = picture;
  const rows = [];
  for (let row = 0; row <= count; row += 1) {
    const y = Math.round(box.y + box.height * row / count) + 0.5;
    rows.push([box.x, y, box.x + box.width, y]);
  }
  surface.lines(rows, { stroke: look.grid });
  for (const [value, word] of picture.marks(picture.from, picture.to, Math.max(2, Math.floor(box.width / (isNarrow ? 74 : 96))))) {
    const at = x(value);
    surface.lines([[at, box.y + box.height, at, box.y + box.height + 4]], { stroke: look.grid });
    const half = word.length * 3.4;
    if (at + half < picture.width && at - half > 0) surface.text(at, box.y + box.height + 19, word, { fill: look.soft, anchor: "middle", size: 12 });
  }
  for (const axis of axes) {
    const at = axis.side === "left" ? box.x - 7 - axis.place : box.x + box.width + 7 + axis.place;
    axis.words.forEach((word, row) => surface.text(at, box.y + box.height * (1 - row / count) + 4, word, {
      fill: axis.colour, anchor: axis.side === "left" ? "end" : "start", size }));
  }
}

function drawBand(surface, { box, x }, [from, to], look) {
  surface.rectangle(x(from), box.y, Math.max(1, x(to) - x(from)), box.height, look.select);
  surface.lines([[x(from), box.y, x(from), box.y + box.height], [x(to), box.y, x(to), box.y + box.height]], { stroke: look.selectEdge });
}

const FLAG = { signs: 24, rows: 3, height: 14, alpha: 0.1 };

/** Marks: a line at a moment, a band over a span. Names have three rows, and one without room is left out. */
function drawFlags(surface, { box, x }, { flags = [], look }) {
  const ends = Array.from({ length: FLAG.rows }, () => -Infinity);
  for (const { name, start, end } of flags) {
    const left = Math.max(x(start), box.x - 1);
    const right = end === null ? box.x + box.width : Math.min(x(end), box.x + box.width + 1);
    const edges = [left, right].filter((at, index) => index === 0 || (end !== null && right - left > 1));
    surface.lines(edges.map((at) => [at, box.y, at, box.y + box.height]), { stroke: look.selectEdge, dash: [4, 3] });
    if (right - left > 1) surface.columns([left, box.y, right - left, box.height], look.selectEdge, FLAG.alpha);
    const word = [...name].length > FLAG.signs ? `${[...name].slice(0, FLAG.signs - 1).join("")}…` : name;
    const row = ends.findIndex((taken) => taken < left);
    if (row < 0) continue;
    ends[row] = left + word.length * 6.6 + 10;
    surface.text(left + 4, box.y + 12 + FLAG.height * row, word, { fill: look.ink, size: 11, halo: look.panel });
  }
}

function drawGap(surface, { box, x }, { from, to, word }, look) {
  const [left, right] = [Math.max(x(from), box.x), Math.min(x(to), box.x + box.width)];
  if (right - left < 3) return;
  const middle = (left + right) / 2;
  const isWritten = word && right - left > word.length * 6.2 + 8;
  surface.lines([[middle, box.y + (isWritten ? 22 : 0), middle, box.y + box.height]], { stroke: look.soft, dash: [2, 5] });
  if (isWritten) surface.text(middle, box.y + 14, word, { fill: look.soft, anchor: "middle" });
}

/** The pieces of a curve between its gaps, as [first, last] indices, with one point beyond either edge. */
function pieces({ t, mean, gap }, from, to) {
  const found = [];
  let start = -1;
  let last = -1;
  for (let index = 0; index < t.length; index += 1) {
    if (index + 1 < t.length && t[index + 1] < from) continue;
    const isBroken = mean[index] === null || (last >= 0 && t[index] - t[last] > gap);
    if (start >= 0 && isBroken) {
      found.push([start, last]);
      start = -1;
    }
    if (mean[index] !== null) {
      if (start < 0) start = index;
      last = index;
    }
    if (t[index] > to) break;
  }
  if (start >= 0) found.push([start, last]);
  return found;
}

const BAND_ALPHA = 0.18;
/** Points nearer than this make a band of columns. Its outline would be hundreds of steep edges, which take ten times as long to paint. */
const DENSE_PX = 2;

/** A band from the least to the greatest of each point, as x and y in turn. */
function outlineOf(curve, axis, plan, first, last) {
  const points = [];
  for (let index = first; index <= last; index += 1) points.push(plan.x(curve.t[index]), plan.y(axis, curve.max[index]));
  for (let index = last; index >= first; index -= 1) points.push(plan.x(curve.t[index]), plan.y(axis, curve.min[index]));
  return points;
}

/** The same as columns of whole pixels: left, top, width and height in turn. */
function columnsOf(curve, axis, plan, first, last) {
  const columns = [];
  let [left, low, high] = [null, 0, 0];
  const finish = (right) => { if (left !== null && high > low) columns.push(left, low, right - left, high - low); };
  for (let index = first; index <= last; index += 1) {
    const [x, top, bottom] = [Math.floor(plan.x(curve.t[index])), plan.y(axis, curve.max[index]), plan.y(axis, curve.min[index])];
    if (x === left) {
      low = Math.min(low, top);
      high = Math.max(high, bottom);
    } else {
      finish(x);
      [left, low, high] = [x, top, bottom];
    }
  }
  finish(left + 1);
  return columns;
}

function drawCurve(surface, curve, plan, picture) {
  const axis = plan.axisOf(curve);
  const lines = [];
  for (const [first, last] of pieces(curve, picture.from, picture.to)) {
    const line = [];
    let isWide = false;
    for (let index = first; index <= last; index += 1) {
      line.push(plan.x(curve.t[index]), plan.y(axis, curve.mean[index]));
      isWide ||= curve.max[index] > curve.min[index];
    }
    lines.push(line);
    if (!isWide) continue;
    if ((line.at(-2) - line[0]) / (last - first) < DENSE_PX) surface.columns(columnsOf(curve, axis, plan, first, last), curve.colour, BAND_ALPHA);
    else surface.area(outlineOf(curve, axis, plan, first, last), curve.colour, BAND_ALPHA);
  }
  surface.lines(lines, { stroke: curve.colour, width: curve.width ?? 1.6, dash: curve.dash ?? [] });
}

/** Names curves at their ends, so that colour alone need not; where they end together, one above the other. */
function drawLetters(surface, plan, picture) {
  const taken = [];
  for (const curve of picture.curves) {
    const index = lastSeen(curve, picture);
    if (index < 0) continue;
    const at = Math.min(plan.x(curve.t[index]), plan.box.x + plan.box.width) - 4;
    let y = Math.max(plan.box.y + 10, plan.y(plan.axisOf(curve), curve.mean[index]) - 6);
    const step = y > plan.box.y + plan.box.height / 2 ? -14 : 14;
    while (taken.some(([x, other]) => Math.abs(x - at) < 24 && Math.abs(other - y) < 13)) y += step;
    taken.push([at, y]);
    surface.text(at, y, curve.letter, { fill: curve.colour, anchor: "end", size: 12, weight: 700, halo: picture.look.panel });
  }
}

function lastSeen({ t, mean }, { from, to }) {
  for (let index = t.length - 1; index >= 0; index -= 1) {
    if (t[index] < from) return -1;
    if (t[index] <= to && mean[index] !== null) return index;
  }
  return -1;
}
