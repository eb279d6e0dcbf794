// Recordings laid over each other from their starts, by time or by charge, with their differences in a table.
import { replaceAddress } from "./address.js";
import { call } from "./api.js";
import { el, setText, table } from "./dom.js";
import { state } from "./live.js";
import { makePlot } from "./plot.js";
import { curveOf, roomFor, USUAL } from "./quantities.js";
import { titleOf } from "./recordingitem.js";
import { elapsed, elapsedMarks, numberMarks } from "./scale.js";
import { loadRecordingSeries } from "./series.js";
import { duration, moment, nameOf, number } from "./words.js";

// Colour and dashes together, so that six are told apart without colours too.
const STROKES = [
  ["--c-current", []], ["--c-voltage", []], ["--c-power", []], ["--c-temperature", [7, 4]], ["--c-energy", [2, 4]], ["--c-dn", [10, 3, 2, 3]],
];
const POINTS = 1500;

export function compareView(place, values) {
  const ids = (values.recordings ?? "").split(",").filter(Boolean).slice(0, STROKES.length);
  let quantity = USUAL.includes(values.show) ? values.show : "current_A";
  let isByCharge = values.by === "charge";
  let runs = [];
  let view = null;
  let isOver = false;

  const note = el("p", { class: "hint", role: "status", text: "Loading …" });
  const differences = el("div");
  const shown = el("select", { id: "compare-show", onchange: () => { quantity = shown.value; put(); } },
    USUAL.map((key) => el("option", { value: key, text: curveOf(key).word })));
  const along = el("select", { id: "compare-by", onchange: () => { isByCharge = along.value === "charge"; view = null; put(); } },
    el("option", { value: "time", text: "time since the start" }), el("option", { value: "charge", text: "charge, mAh" }));
  shown.value = quantity;
  along.value = isByCharge ? "charge" : "time";
  const plot = makePlot({
    label: "Recordings over each other. Arrow keys move along, plus and minus zoom, Home shows the whole.",
    words, show(from, to) { if (to > from) { view = [from, to]; put(); } }, home() { view = null; put(); },
  });
  const legend = el("div", { class: "keys" });
  place.append(el("p", { class: "back" }, el("a", { href: "#/recordings", text: "← Recordings" })), el("h1", { text: "Compare recordings" }),
    el("section", { class: "panel", "aria-label": "Comparison" },
      el("div", { class: "choose" }, el("label", { for: "compare-show" }, "Show", shown), el("label", { for: "compare-by" }, "along", along)),
      legend, plot.element, note),
    el("section", { class: "panel", "aria-label": "Differences" }, el("h2", { text: "Differences" }), differences));

  async function load() {
    const found = await Promise.all(ids.map(async (id) => {
      try {
        const recording = await call("GET", `v1/recordings/${encodeURIComponent(id)}`);
        const track = await loadRecordingSeries(id, POINTS, USUAL);
        return { recording, ...onItsOwn(recording, track) };
      } catch (error) {
        return { error: `${id}: ${error.words ?? error.message}` };
      }
    }));
    if (isOver) return;
    runs = found.filter((one) => one.recording);
    const failed = found.filter((one) => one.error).map((one) => one.error);
    setText(note, failed.join(" ") || (runs.length < 2 && !runs[0]?.recording.imported ? "Choose two recordings or more in the list of recordings." : ""));
    drawLegend();
    drawDifferences();
    put();
  }

  function drawLegend() {
    legend.replaceChildren(...runs.map(({ recording }, index) => {
      const swatch = el("span", { class: "swatch", "aria-hidden": "true" });
      swatch.style.setProperty("--key", `var(${STROKES[index][0]})`);
      return el("span", {}, swatch, `${index + 1} ${titleOf(recording)} `);
    }));
  }

  function put() {
    if (isOver) return;
    const curve = curveOf(quantity);
    const curves = runs.map((run, index) => ({
      ...curve, colour: STROKES[index][0], dash: STROKES[index][1], letter: String(index + 1),
      t: isByCharge ? run.charge : run.t, gap: isByCharge ? Infinity : run.gap, ...run.columns[quantity],
    }));
    const end = Math.max(1, ...curves.map((one) => one.t.length ? one.t[one.t.length - 1] : 0));
    const [from, to] = view ?? [0, end];
    plot.set({
      curves, from, to, marks: isByCharge ? (a, b, most) => numberMarks(a, b, most, "mAh") : elapsedMarks,
      room: (unit, value) => roomFor(unit, null, value), fit: "data",
    });
    replaceAddress(["compare"], { recordings: ids.join(","), show: quantity === "current_A" ? null : quantity, by: isByCharge ? "charge" : null });
  }

  function words(x, marked) {
    return {
      title: isByCharge ? `${number(x, 0)} mAh` : elapsed(x), note: marked.length ? "" : "no reading",
      lines: marked.map(({ curve, index }) => ({ colour: curve.colour, text: `${curve.letter}: ${number(curve.mean[index], curve.digits)} ${curve.unit}` })),
    };
  }

  function drawDifferences() {
    const first = runs[0]?.recording;
    differences.replaceChildren(table("Differences", ["Recording", "Duration", "Charge", "Energy", "Mean V", "Mean A", "Mean W", "Peak W"],
      runs.map(({ recording: one }, index) => [
        `${index + 1} ${titleOf(one)}, ${nameOf(state.meters.get(one.meter) ?? { id: one.meter })}, ${moment(one.started)}`,
        withDifference(one.duration_ms, index && first.duration_ms, duration),
        ...[["charge_mAh", 0, "mAh"], ["energy_Wh", 3, "Wh"]].map(([key, digits, unit]) =>
          withDifference(one[key], index && first[key], (value) => `${number(value, digits)} ${unit}`)),
        ...[["voltage_V", "mean"], ["current_A", "mean"], ["power_W", "mean"], ["power_W", "max"]].map(([key, part]) =>
          withDifference(one[key]?.[part] ?? null, index && first[key]?.[part], (value) => number(value, 3))),
      ]), "No recording."));
  }

  load();
  return () => { isOver = true; plot.close(); };
}

/** A value, and how much it is above or below the first one's. */
function withDifference(value, first, words) {
  if (value === null || value === undefined) return "–";
  const text = words(value);
  if (!first) return text;
  const part = (value - first) / Math.abs(first) * 100;
  const size = Math.abs(part).toFixed(Math.abs(part) < 10 ? 1 : 0);
  return Number(size) === 0 ? `${text} (the same)` : `${text} (${part > 0 ? "+" : "−"}${size} %)`;
}

/** A track counted from its start, by time and by the charge that has flowed until then. */
function onItsOwn(recording, track) {
  const start = Date.parse(recording.started);
  const t = track.t.map((time) => time - start);
  const current = track.columns.current_A.mean;
  const charge = [];
  let sum = 0;
  let last = -1;
  for (let index = 0; index < t.length; index += 1) {
    if (current[index] !== null) {
      // Nothing is known of what flowed in a gap.
      if (last >= 0 && t[index] - t[last] <= track.gap) sum += (current[index] + current[last]) / 2 * (t[index] - t[last]) / 3600;
      last = index;
    }
    charge.push(sum);
  }
  return { t, charge, gap: track.gap, columns: track.columns };
}
