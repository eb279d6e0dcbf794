// The chart of one meter: what it shows, from when to when, and what somebody selects on it.
import { replaceAddress } from "./address.js";
import { el, setAttribute, setText } from "./dom.js";
import { exportBar } from "./exporting.js";
import { gapReasons } from "./gapwords.js";
import { hostNow, state } from "./live.js";
import { marksPanel } from "./marks.js";
import { makePlot } from "./plot.js";
import { CURVES, curveOf, roomFor, USUAL } from "./quantities.js";
import { timeMarks } from "./scale.js";
import { append, dropBefore, emptyTrack, gapsOf, joined, loadSeries } from "./series.js";
import { stretchPanel } from "./stretch.js";
import { number, preciseMoment } from "./words.js";

const RANGES = [["5min", "5 min", 300], ["1h", "1 h", 3600], ["6h", "6 h", 21600], ["1d", "1 d", 86400], ["1w", "1 w", 604800], ["all", "All", null]];
/** So many points a pixel of width: the host thins the rest out and loses no peak. */
const DENSITY = 1.2;
const [SPAN_MIN, MARGIN] = [1000, 0.5];
/** How often the chart moves on where no reading moves it. */
const TICK_MS = 500;
const FITS = [["data", "Fit to values"], ["zero", "From zero"], ["close", "Fit closely, noise too"]];

/** `values`: what the address says of it. */
export function chartPanel(id, values) {
  const model = () => state.meters.get(id)?.model;
  let shown = (values.show?.split(",") ?? USUAL).filter((key) => curveOf(key));
  if (shown.length === 0) shown = [...USUAL];
  let range = RANGES.find(([word]) => word === values.range) ?? RANGES[0];
  let fit = FITS.some(([word]) => word === values.axes) ? values.axes : "data";
  let selected = spanOf(values.select);
  let view = spanOf(values.from && `${values.from}-${values.to}`);
  let isFollowing = view === null;
  /** Where a double click leads back to. */
  let whole = view;
  let track = emptyTrack(shown);
  let request = 0;
  let isOver = false;
  let reloading;
  let loadedAt = 0;
  let followedAt = 0;
  let written = "";
  const reasons = gapReasons(id);

  const note = el("p", { class: "hint", role: "status" });
  const keys = el("div", { class: "keys", role: "group", "aria-label": "Curves" });
  const ranges = RANGES.map((one) => el("button", { type: "button", text: one[1], "aria-pressed": "false", onclick: () => follow(one) }));
  const selecting = el("button", {
    type: "button", text: "Select", "aria-pressed": "false", onclick: toggleSelecting,
    title: "Drag selects a stretch; so does Shift and drag, or Shift and the arrow keys",
  });
  const axes = el("select", { "aria-label": "Axes", onchange: () => { fit = axes.value; put(); } },
    FITS.map(([value, text]) => el("option", { value, text })));
  axes.value = fit;
  const plot = makePlot({
    label: "Chart. Arrow keys move along it, with Shift they select; plus and minus zoom, Page Up and Down move in time, "
      + "Home goes back to the whole.",
    words, show: move, home, select,
  });
  const tool = (text, label, act) => el("button", { type: "button", text, "aria-label": label, title: label, onclick: act });
  const stretch = stretchPanel(id, { zoom: () => move(...selected), clear: () => select(null) });
  const marks = marksPanel(id, { changed: () => put(), selected: () => selected });
  const download = exportBar(id, () => selected ?? view, () => plot, () => selected ? "the selected stretch" : "what is shown");
  const element = el("section", { class: "panel chart", "aria-label": "Chart" },
    el("div", { class: "tools" },
      el("div", { class: "seg", role: "group", "aria-label": "Time" }, ranges),
      el("div", { class: "seg", role: "group", "aria-label": "Zoom and move" },
        tool("−", "Zoom out", () => plot.zoom(2)), tool("+", "Zoom in", () => plot.zoom(0.5)),
        tool("←", "Earlier", () => plot.pan(-0.5)), tool("→", "Later", () => plot.pan(0.5))),
      selecting, axes),
    keys, plot.element, note, marks.element, stretch.element, download);

  function keyButtons() {
    const known = state.meters.get(id)?.reading ?? {};
    const offered = CURVES.filter(({ key }) => key in known || shown.includes(key) || USUAL.includes(key));
    const text = offered.map(({ key }) => key).join();
    if (keys.dataset.keys === text) return;
    keys.dataset.keys = text;
    keys.replaceChildren(...offered.map(({ key, word, colour }) => {
      const button = el("button", { type: "button", text: word, "aria-pressed": String(shown.includes(key)), onclick: () => toggle(key, button) });
      button.style.setProperty("--key", `var(${colour})`);
      return button;
    }));
  }

  function toggle(key, button) {
    if (shown.includes(key) && shown.length === 1) return;
    shown = CURVES.map((curve) => curve.key).filter((one) => one === key ? !shown.includes(key) : shown.includes(one));
    button.setAttribute("aria-pressed", String(shown.includes(key)));
    load();
  }

  function toggleSelecting() {
    const isOn = selecting.getAttribute("aria-pressed") !== "true";
    selecting.setAttribute("aria-pressed", String(isOn));
    plot.setSelecting(isOn);
  }

  // MARK: What is shown

  async function follow(newRange) {
    range = newRange;
    isFollowing = true;
    whole = null;
    if (range[2] === null) await findAll();
    if (!isOver) load();
  }

  /** From the first stored reading on. */
  async function findAll() {
    try {
      const all = await loadSeries(id, 0, hostNow(), 1000, ["voltage_V"]);
      const first = all.t.length ? all.t[0] : hostNow() - 300000;
      whole = [first - (hostNow() - first) * 0.01, hostNow()];
    } catch { /* The chart says what is wrong as it loads. */ }
    view = whole;
  }

  function home() {
    if (range[2] === null || !whole) return isFollowing ? put() : follow(range);
    view = [...whole];
    isFollowing = false;
    load();
  }

  function move(from, to) {
    if (!(to > from)) return;
    if (to - from < SPAN_MIN) [from, to] = [(from + to - SPAN_MIN) / 2, (from + to + SPAN_MIN) / 2];
    isFollowing = false;
    view = [from, to];
    put();
    // Somebody may go on; what they stop at is loaded.
    clearTimeout(reloading);
    reloading = setTimeout(load, 200);
  }

  function current() {
    if (isFollowing && range[2] !== null) view = [hostNow() - range[2] * 1000, hostNow()];
    if (isFollowing && range[2] === null && view) view = [view[0], hostNow()];
    return view ?? [hostNow() - 300000, hostNow()];
  }

  function select(a, b) {
    selected = a === null ? null : [Math.round(a), Math.round(b)];
    stretch.show(selected);
    put();
  }

  // MARK: Readings

  const points = () => Math.max(300, (plot.element.clientWidth || 1000) * DENSITY);

  async function load() {
    clearTimeout(reloading);
    const mine = ++request;
    const [from, to] = current();
    const room = isFollowing ? 0 : (to - from) * MARGIN;
    loadedAt = performance.now();
    put();
    try {
      const count = Math.round(points() * (isFollowing ? 1 : 1 + 2 * MARGIN));
      const past = await loadSeries(id, Math.max(0, from - room), Math.min(hostNow() + 1000, to + room), count, shown);
      if (isOver || mine !== request) return;
      track = isFollowing ? joined(past, track) : past;
      setText(note, track.t.some((time) => time >= from && time <= to) ? "" : "No reading in this time.");
    } catch (error) {
      if (isOver || mine !== request) return;
      setText(note, error.words ?? error.message);
    }
    put();
    reasons.load(from - room, () => { if (!isOver) put(); });
  }

  /** One more reading, as it comes. */
  function add(meter) {
    keyButtons();
    if (!meter?.readAt || !meter.reading) return;
    if (!isFollowing && meter.readAt > view[1]) return;
    // A fast meter's with their least and greatest; those of others are points, and the store has what lies between.
    if (!append(track, meter.readAt, meter.reading, meter.spread)) return;
    setText(note, "");
    // In the next frame: what else this reading changes is drawn in this one.
    if (isFollowing) requestAnimationFrame(() => { if (!isOver && isFollowing) follows(); });
  }

  /** Time goes on also where no reading comes. */
  function tick() { if (isFollowing && performance.now() - followedAt > TICK_MS * 0.9) follows(); }

  function follows() {
    followedAt = performance.now();
    const [from, to] = current();
    dropBefore(track, from);
    if (performance.now() - loadedAt > Math.min(60000, Math.max(10000, (to - from) / 20)) && state.isLive) {
      // Not in the frame that moves the chart.
      loadedAt = performance.now();
      reloading = setTimeout(load);
    }
    put();
  }

  // MARK: Drawing

  function curves() {
    return shown.map((key) => ({ ...curveOf(key), t: track.t, gap: track.gap, ...(track.columns[key] ?? { min: [], mean: [], max: [] }) }));
  }

  function put() {
    if (isOver) return;
    const [from, to] = current();
    const gaps = gapsOf(track).filter((gap) => gap[1] > from && gap[0] < to)
      .map(([start, end]) => ({ from: start, to: end, word: reasons.why(start, end) || "no reading" }));
    const room = (unit, value) => fit === "close" ? 1e-6 : roomFor(unit, model(), value);
    plot.set({ curves: curves(), from, to, marks: timeMarks, room, fit: fit === "zero" ? "zero" : "data", gaps, flags: marks.within(from, to), select: selected });
    for (const [index, button] of ranges.entries()) setAttribute(button, "aria-pressed", String(isFollowing && RANGES[index] === range));
    write(from, to);
  }

  function write(from, to) {
    const what = String([shown, isFollowing ? range[0] : [from, to], selected, fit]);
    if (what === written) return;
    written = what;
    replaceAddress(["meter", id], {
      show: shown.join() === USUAL.join() ? null : shown.join(), range: isFollowing && range !== RANGES[0] ? range[0] : null,
      from: isFollowing ? null : Math.round(from), to: isFollowing ? null : Math.round(to),
      select: selected?.join("-"), axes: fit === "data" ? null : fit,
    });
  }

  function words(x, marked, isNarrow) {
    const title = preciseMoment(new Date(x));
    const lines = marked.map(({ curve, index }) => ({ colour: curve.colour, text: valueWords(curve, index, isNarrow) }));
    const gap = marked.length ? null : gapsOf(track).find(([from, to]) => x > from && x < to);
    return { title, lines, note: gap ? reasons.words(...gap) : marked.length ? "" : "no reading" };
  }

  keyButtons();
  stretch.show(selected);
  if (range[2] === null && isFollowing) follow(range); else load();
  const ticking = setInterval(tick, TICK_MS);
  function close() {
    isOver = true;
    clearTimeout(reloading);
    clearInterval(ticking);
    plot.close();
    stretch.close();
    marks.close();
  }
  return { element, add, close };
}

/** A value, with the least and the greatest where it stands for many. */
function valueWords({ min, mean, max, unit, digits, word }, index, isShort) {
  const value = `${word} ${number(mean[index], digits)} ${unit}`;
  return isShort || min[index] === max[index] ? value : `${value} (${number(min[index], digits)} to ${number(max[index], digits)})`;
}

function spanOf(text) {
  const found = /^(\d+)-(\d+)$/.exec(text ?? "");
  return found && Number(found[2]) > Number(found[1]) ? [Number(found[1]), Number(found[2])] : null;
}
