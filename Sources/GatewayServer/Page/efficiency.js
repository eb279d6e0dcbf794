// Two meters at the same time, one before and one behind something: what it passes on, and what it loses.
import { replaceAddress } from "./address.js";
import { el, setText } from "./dom.js";
import { hostNow, listen, state } from "./live.js";
import { makePlot } from "./plot.js";
import { roomFor } from "./quantities.js";
import { timeMarks } from "./scale.js";
import { loadSeries, nearest } from "./series.js";
import { clockWords, nameOf, number } from "./words.js";

const RANGES = [["5min", "5 min", 300], ["1h", "1 h", 3600], ["6h", "6 h", 21600], ["1d", "1 d", 86400]];
const [POINTS, PACE_MS, KEY] = [800, 5000, "power_W"];
/** Below this power in, a ratio is noise, W. */
const POWER_MIN = 0.05;

export function efficiencyView(place, values) {
  const meters = () => [...state.meters.values()];
  let [input, output] = [values.in ?? meters()[0]?.id ?? "", values.out ?? meters()[1]?.id ?? ""];
  let range = RANGES.find(([word]) => word === values.range) ?? RANGES[0];
  let view = null;
  let result = null;
  let isOver = false;
  let timer;

  const note = el("p", { class: "hint", role: "status" });
  const sum = el("p");
  const choice = (id, change) => el("select", { id, onchange: change });
  const from = choice("efficiency-in", () => { input = from.value; load(); });
  const to = choice("efficiency-out", () => { output = to.value; load(); });
  const ranges = RANGES.map((one) => el("button", {
    type: "button", text: one[1], "aria-pressed": "false", onclick: () => { range = one; view = null; load(); },
  }));
  const plot = makePlot({
    label: "Power in and out, and efficiency. Arrow keys move along, plus and minus zoom, Home shows the whole.",
    words, show(a, b) { if (b > a) { view = [a, b]; put(); } }, home() { view = null; load(); },
  });
  place.append(el("p", { class: "back" }, el("a", { href: "#/recordings", text: "← Recordings" })), el("h1", { text: "Efficiency" }),
    el("section", { class: "panel", "aria-label": "Efficiency" },
      el("div", { class: "choose" },
        el("label", { for: "efficiency-in" }, "Power in", from), el("label", { for: "efficiency-out" }, "Power out", to),
        el("button", { type: "button", text: "Swap", onclick: () => { [input, output] = [output, input]; fillChoices(); load(); } }),
        el("div", { class: "seg", role: "group", "aria-label": "Time" }, ranges)),
      sum, plot.element, note));

  function fillChoices() {
    for (const [select, value] of [[from, input], [to, output]]) {
      select.replaceChildren(...meters().map((meter) => el("option", { value: meter.id, text: nameOf(meter) })));
      select.value = value;
    }
  }

  async function load() {
    clearTimeout(timer);
    if (!input || !output || input === output) {
      setText(note, "Choose two meters: one before and one behind what you look at.");
      result = null;
      return put();
    }
    if (!result) setText(note, "Loading …");
    try {
      const [end, length] = [hostNow(), range[2] * 1000];
      const [a, b] = await Promise.all([input, output].map((id) => loadSeries(id, end - length, end, POINTS, [KEY])));
      if (isOver) return;
      result = { ...ratio(a, b), from: end - length, to: end };
      setText(note, result.efficiency.t.length ? "" : "There is no time at which both measured.");
    } catch (error) {
      if (!isOver) setText(note, error.words ?? error.message);
    }
    put();
    timer = setTimeout(() => { if (!view && state.isLive) load(); }, PACE_MS);
  }

  function put() {
    for (const [index, button] of ranges.entries()) button.setAttribute("aria-pressed", String(RANGES[index] === range));
    if (result) {
      const { energy } = result;
      // Of less than the meters' own last digit a part says nothing.
      setText(sum, energy.in < 0.001 ? "Too little flowed to tell what came out."
        : `${number(energy.out / energy.in * 100, 1)} % of ${number(energy.in, 4)} Wh came out, ${number(energy.in - energy.out, 4)} Wh were lost.`);
    }
    sum.hidden = !result;
    const [a, b] = view ?? [result?.from ?? hostNow() - 300000, result?.to ?? hostNow()];
    plot.set({
      curves: result ? [
        { ...result.in, unit: "W", colour: "--c-current", letter: "in", word: "In", digits: 3 },
        { ...result.out, unit: "W", colour: "--c-voltage", letter: "out", word: "Out", digits: 3 },
        { ...result.lost, unit: "W", colour: "--c-dn", letter: "lost", word: "Lost", digits: 3, dash: [5, 4] },
        { ...result.efficiency, unit: "%", colour: "--c-power", letter: "%", word: "Efficiency", digits: 1, width: 2 },
      ] : [], from: a, to: b, marks: timeMarks, room: (unit, value) => unit === "%" ? 5 : roomFor(unit, null, value), fit: "data",
    });
    replaceAddress(["efficiency"], { in: input, out: output, range: range === RANGES[0] ? null : range[0] });
  }

  function words(x, marked) {
    return {
      title: clockWords(new Date(x)), note: marked.length ? "" : "no reading of both",
      lines: marked.map(({ curve, index }) => ({ colour: curve.colour, text: `${curve.word} ${number(curve.mean[index], curve.digits)} ${curve.unit}` })),
    };
  }

  fillChoices();
  load();
  const end = listen((change) => {
    if (!change.all) return;
    input ||= meters()[0]?.id ?? "";
    output ||= meters()[1]?.id ?? "";
    fillChoices();
    load();
  });
  return () => { isOver = true; clearTimeout(timer); end(); plot.close(); };
}

const line = (gap) => ({ t: [], min: [], mean: [], max: [], gap });

function push(into, time, value) {
  into.t.push(time);
  for (const part of ["min", "mean", "max"]) into[part].push(value);
}

/** Out over in at the times of the one that comes in, where the other has a reading near enough. */
export function ratio(a, b) {
  const gap = Math.max(a.gap, b.gap);
  const found = { in: line(gap), out: line(gap), lost: line(gap), efficiency: line(gap), energy: { in: 0, out: 0 } };
  const near = Math.min(gap / 2, Math.max(2000, stepOf(b) * 2));
  let last = null;
  for (let index = 0; index < a.t.length; index += 1) {
    const power = a.columns[KEY].mean[index];
    const other = nearest(b.t, a.t[index]);
    const passed = other < 0 || Math.abs(b.t[other] - a.t[index]) > near ? null : b.columns[KEY].mean[other];
    if (power === null || passed === null) continue;
    const time = a.t[index];
    push(found.in, time, power);
    push(found.out, time, passed);
    push(found.lost, time, power - passed);
    push(found.efficiency, time, power > POWER_MIN ? passed / power * 100 : null);
    if (last && time - last.time <= gap) {
      const hours = (time - last.time) / 3600000;
      found.energy.in += (power + last.power) / 2 * hours;
      found.energy.out += (passed + last.passed) / 2 * hours;
    }
    last = { time, power, passed };
  }
  return found;
}

const stepOf = ({ t }) => t.length > 1 ? (t[t.length - 1] - t[0]) / (t.length - 1) : 0;
