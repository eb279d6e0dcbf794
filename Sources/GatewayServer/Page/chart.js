// The curves of one meter: four charts that zoom and pan together (dygraphs, from Debian's libjs-dygraphs).
import { call, meterPath } from "/api.js";
import { el, setText } from "/dom.js";
import { state } from "/live.js";
import { number } from "/words.js";

const CURVES = [
  ["voltage_V", "Voltage", "V", 3],
  ["current_A", "Current", "A", 3],
  ["power_W", "Power", "W", 3],
  ["energy_Wh", "Energy", "Wh", 3],
];
const SPANS = [
  ["5 min", 300], ["1 h", 3600], ["6 h", 6 * 3600], ["1 day", 86400], ["1 week", 7 * 86400],
  ["1 month", 30 * 86400], ["6 months", 182 * 86400],
];
/** No value: the line has a gap. */
const NOTHING = [null, null, null];
/** Points of a chart at most: more than a screen is wide. The host thins the rest out, and loses no peak. */
const POINTS = 1000;

let library;

/** The chart library, loaded when a chart is first wanted. */
function loadLibrary() {
  library ??= new Promise((resolve, reject) => {
    document.head.append(el("link", { rel: "stylesheet", href: "/lib/dygraph.css" }));
    document.head.append(el("script", {
      src: "/lib/dygraph.js", onload: () => resolve(withoutLegend(window.Dygraph)),
      onerror: () => reject(new Error("The charts need the package libjs-dygraphs on the host: apt-get install libjs-dygraphs")),
    }));
  });
  return library;
}

/** Its legend sets styles in a way that the page's security policy does not allow; this page has its own. */
function withoutLegend(Dygraph) {
  Dygraph.PLUGINS = Dygraph.PLUGINS.filter((plugin) => plugin !== Dygraph.Plugins.Legend);
  return Dygraph;
}

/** A value beside the axis, with as many digits as tell it from its neighbours. */
function axisLabel(value, range) {
  const digits = Math.max(0, Math.min(6, 1 - Math.floor(Math.log10(Math.max(range, 1e-6)))));
  return String(Number(value.toFixed(digits)));
}

const bar = (value) => Number.isFinite(value) ? [value, value, value] : NOTHING;

/** A value, with the least and the greatest where it stands for many. */
const words = ([low, mean, high], unit, digits) => low === high
  ? `${number(mean, digits)} ${unit}` : `${number(mean, digits)} ${unit} (${number(low, digits)} to ${number(high, digits)})`;

/** The curves of a meter. `span`: what they show first, from and to in ms; without it they follow what comes. */
export function chartPanel(id, span) {
  const cursor = el("p", { class: "cursor" });
  const note = el("p", { class: "hint", role: "status" });
  const boxes = CURVES.map(([key, word, unit]) => el("div", { class: "plot", "data-curve": key },
    el("h3", { text: `${word} in ${unit}` }), el("div", { class: "canvas", role: "img", "aria-label": `${word} over time` })));
  const spans = SPANS.map(([word, seconds]) => el("button", {
    type: "button", text: word, "aria-pressed": "false", onclick: () => follow(seconds),
  }));
  const tool = (text, label, act) => el("button", { type: "button", text, "aria-label": label, title: label, onclick: act });
  const element = el("section", { class: "panel chart", "aria-label": "Charts" },
    el("h2", { text: "Charts" }),
    el("div", { class: "tools", role: "group", "aria-label": "Time span" }, spans),
    el("div", { class: "tools", role: "group", "aria-label": "Zoom and pan" },
      tool("−", "Zoom out", () => zoom(2)), tool("+", "Zoom in", () => zoom(0.5)),
      tool("←", "Earlier", () => pan(-0.5)), tool("→", "Later", () => pan(0.5)),
      tool("Now", "Follow what comes", () => follow(seconds))),
    cursor, note, boxes);

  /** Rows of all curves: time, then least, mean and greatest of each. */
  let rows = [];
  let charts = [];
  let seconds = 300;
  let isFollowing = true;
  let isOver = false;
  let isBusy = false;
  let reloading;
  let request = 0;
  /** What is shown, in ms of the host's calendar. */
  let shown = [0, 0];

  const hostNow = () => Date.now() + state.clockOffset;

  function follow(newSpan) {
    seconds = newSpan;
    isFollowing = true;
    for (const [index, button] of spans.entries()) button.setAttribute("aria-pressed", String(SPANS[index][1] === seconds));
    shown = [hostNow() - seconds * 1000, hostNow()];
    load();
  }

  function move(from, to) {
    isFollowing = false;
    for (const button of spans) button.setAttribute("aria-pressed", "false");
    const least = 2000;
    if (to - from < least) [from, to] = [(from + to - least) / 2, (from + to + least) / 2];
    shown = [from, to];
    draw();
    // The pointer may go on; what it stops at is loaded.
    clearTimeout(reloading);
    reloading = setTimeout(load, 250);
  }

  function zoom(factor) {
    const [from, to] = shown;
    const [middle, half] = [(from + to) / 2, (to - from) / 2 * factor];
    move(middle - half, middle + half);
  }

  function pan(part) {
    const step = (shown[1] - shown[0]) * part;
    move(shown[0] + step, shown[1] + step);
  }

  async function load() {
    const mine = ++request;
    const [from, to] = shown.map(Math.round);
    try {
      const past = await series(id, from, to);
      if (isOver || mine !== request) return;
      const last = past.length ? past[past.length - 1][0] : new Date(0);
      // What came while the host was asked.
      rows = past.concat(rows.filter((row) => row[0] > last && row[0].getTime() <= shown[1]));
      setText(note, rows.length === 0 ? "No reading in this time." : "");
    } catch (error) {
      if (isOver || mine !== request) return;
      setText(note, error.words ?? error.message);
    }
    draw();
  }

  /** One more reading, as it comes. */
  function add(meter) {
    if (!meter?.readAt || !meter.reading) return;
    const last = rows[rows.length - 1];
    if (last && last[0].getTime() >= meter.readAt) return;
    // Somebody who looks at the past gets no line from there to now.
    if (!isFollowing && meter.readAt > shown[1]) return;
    rows.push([new Date(meter.readAt), ...CURVES.map(([key]) => bar(meter.reading[key]))]);
    if (isFollowing) {
      shown = [hostNow() - seconds * 1000, hostNow()];
      while (rows.length > 2 && rows[1][0].getTime() < shown[0]) rows.shift();
      if (rows.length > POINTS * 3) load();
      setText(note, "");
    }
    draw();
  }

  let drawing = 0;
  function draw() {
    if (drawing || isOver || charts.length === 0) return;
    drawing = requestAnimationFrame(() => {
      drawing = 0;
      if (isOver) return;
      isBusy = true;
      for (const [index, chart] of charts.entries()) chart.updateOptions({ file: columns(index), dateWindow: shown });
      isBusy = false;
    });
  }

  const columns = (index) => rows.length ? rows.map((row) => [row[0], row[index + 1]]) : [[new Date(shown[0]), NOTHING]];

  function point(time) {
    if (rows.length === 0) return;
    let [low, high] = [0, rows.length - 1];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (rows[middle][0].getTime() <= time) low = middle; else high = middle;
    }
    const row = Math.abs(rows[low][0] - time) <= Math.abs(rows[high][0] - time) ? rows[low] : rows[high];
    setText(cursor, [row[0].toLocaleString([], { hour12: false }),
      ...CURVES.map(([, , unit, digits], index) => row[index + 1][1] === null ? null : words(row[index + 1], unit, digits))]
      .filter(Boolean).join("   "));
  }

  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const look = () => ({ colors: [colour("--curve")], gridLineColor: colour("--grid"), axisLineColor: colour("--grid") });

  loadLibrary().then((Dygraph) => {
    if (isOver) return;
    shown = [hostNow() - seconds * 1000, hostNow()];
    charts = boxes.map((box, index) => new Dygraph(box.querySelector(".canvas"), columns(index), {
      labels: ["Time", CURVES[index][1]], legend: "never", dateWindow: shown, connectSeparatedPoints: false, customBars: true, fillAlpha: 0.25,
      strokeWidth: 1.6, includeZero: false, axisLabelFontSize: 12, xRangePad: 0, yRangePad: 6, rightGap: 8,
      axes: { x: { drawGrid: false, pixelsPerLabel: 80 }, y: {
        axisLabelWidth: 56, pixelsPerLabel: 28,
        axisLabelFormatter: (value, granularity, options, chart) => axisLabel(value, chart.yAxisRange()[1] - chart.yAxisRange()[0]),
      } },
      // One finger zooms and moves sideways; up and down scrolls the page.
      zoomCallback: (from, to) => { if (!isBusy) move(from, to); },
      drawCallback: (chart) => {
        if (isBusy || isOver) return;
        const [from, to] = chart.xAxisRange();
        if (Math.abs(from - shown[0]) > 1 || Math.abs(to - shown[1]) > 1) move(from, to);
      },
      highlightCallback: (event, time) => point(time),
      unhighlightCallback: () => setText(cursor, ""),
      ...look(),
    }));
    if (span) move(...span);
    else follow(seconds);
  }, (error) => setText(note, error.message));

  const recolour = () => { for (const chart of charts) chart.updateOptions(look()); };
  document.addEventListener("theme-changed", recolour);

  function close() {
    isOver = true;
    clearTimeout(reloading);
    document.removeEventListener("theme-changed", recolour);
    for (const chart of charts) chart.destroy();
  }
  return { element, add, close };
}

/** The stored readings of a time, thinned out by the host, as rows: time, then least, mean and greatest of each curve. */
async function series(id, from, to) {
  const keys = CURVES.map(([key]) => key);
  const answer = await call("GET", meterPath(id, `/series?from=${from}&to=${to}&points=${POINTS}&quantities=${keys}`));
  const start = Date.parse(answer.start);
  const columns = keys.map((key) => answer.series[key]);
  return answer.t_ms.map((offset, index) => [new Date(start + offset), ...columns.map((column) =>
    column && column.mean[index] !== null ? [column.min[index], column.mean[index], column.max[index]] : NOTHING)]);
}
