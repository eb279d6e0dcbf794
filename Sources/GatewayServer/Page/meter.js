// One meter: its values, its curves, what it heard of USB Power Delivery, its recordings, its settings and who changed them,
// and what happened to it.
import { alertMarks } from "./alertmarks.js";
import { alertPanel } from "./alertpanel.js";
import { chartPanel } from "./chart.js";
import { commandsPanel } from "./commands.js";
import { el, setAttribute, setText } from "./dom.js";
import { pairs, section } from "./host.js";
import { linkButtons } from "./links.js";
import { confirmed, listen, state } from "./live.js";
import { logPanel } from "./log.js";
import { recordingsPanel } from "./recordings.js";
import { renameButton } from "./rename.js";
import { settingsPanel } from "./settings.js";
import { lossWords, standing } from "./freshness.js";
import { leaseWords, moment, money, nameOf, number, QUANTITIES, span, toldValue, toldWord } from "./words.js";

/** What a load is set to; it stands beside what it draws. */
const OF_LOADS = [["load_on", "Load"], ["set_current_A", "Set to", "A", 2], ["cutoff_V", "Cut-off", "V", 2], ["timer_s", "Timer", "s", 0]];

/** Counters need not be shown as they count. */
const ABOUT_MS = 2000;

/** `values`: what the address says of its chart. */
export function meterView(place, id, values) {
  const title = el("h1");
  const badge = el("span", { class: "badge" });
  const who = el("p", { class: "lease" });
  const rename = renameButton(id, title, () => state.meters.get(id));
  const loss = el("p", { class: "loss" });
  const error = el("p", { class: "error" });
  const buttons = linkButtons(() => state.meters.get(id));
  const figures = el("dl", { class: "values" });
  const about = el("div");
  const gone = el("p", { class: "panel", text: "Loading …" });
  const chart = chartPanel(id, values);
  const heard = el("div");
  const recordings = recordingsPanel(id);
  const alerts = alertPanel(id);
  const raised = alertMarks(id);
  const settings = settingsPanel(id);
  const commands = commandsPanel(id);
  const log = logPanel(id);
  const content = el("div", { hidden: true },
    el("div", { class: "panel head" },
      el("div", { class: "top" }, title, rename.element, el("span", { class: "grow" }), badge),
      who, raised.element, loss, error, figures, buttons.element),
    chart.element, heard, alerts.element, recordings.element,
    commands.element, settings.element, settings.past, log.element,
    section("About", about));
  place.append(el("p", { class: "back" }, el("a", { href: "#/", text: "← All meters" })), gone, content);

  const cells = new Map();
  const cost = el("b");
  let aboutAt = -Infinity;
  let isOver = false;
  let powerDelivery;

  async function showPowerDelivery() {
    powerDelivery = null;
    const { powerDeliveryPanel } = await import("./pd.js");
    if (isOver) return;
    powerDelivery = powerDeliveryPanel(id);
    heard.append(powerDelivery.element);
  }

  function drawValues(meter) {
    const known = QUANTITIES.filter(([key]) => meter.reading && key in meter.reading);
    const energy = meter.reading?.energy_Wh ?? meter.reading?.counted_energy_Wh;
    const price = meter.tariff && Number.isFinite(energy) ? money(energy / 1000 * meter.tariff.per_kWh, meter.tariff.currency) : null;
    const told = meter.told?.details ?? {};
    const ofLoad = OF_LOADS.filter(([key]) => key in told);
    const keys = [...known, ...ofLoad].map(([key]) => key).concat(price === null ? "" : "price").join();
    if (figures.dataset.keys !== keys) {
      figures.dataset.keys = keys;
      cells.clear();
      figures.replaceChildren(...[...known, ...ofLoad].map(([key, word, unit]) => {
        const cell = el("b");
        cells.set(key, cell);
        return el("div", {}, el("dt", { text: word }), el("dd", {}, cell, unit ? el("span", { text: unit }) : null));
      }));
      if (price !== null) figures.append(el("div", {}, el("dt", { text: "Cost of that energy" }), el("dd", {}, cost)));
    }
    setText(cost, price ?? "");
    for (const [key, , , digits] of known) setText(cells.get(key), number(meter.reading[key], digits));
    for (const [key, , , digits] of ofLoad) {
      const value = told[key];
      setText(cells.get(key), typeof value === "boolean" ? (value ? "on" : "off") : number(value, digits));
    }
  }

  function drawAbout(meter) {
    if (performance.now() - aboutAt < ABOUT_MS) return;
    aboutAt = performance.now();
    const device = meter.device ?? {};
    const counts = meter.counters;
    const rows = [["Model", meter.model ?? "not known"], ["Id", meter.id],
      ["Link", [meter.transport, meter.port].filter(Boolean).join(", ") || "–"], ["State since", moment(meter.since)]];
    if (meter.rssi !== null) rows.push(["Signal", `${meter.rssi} dBm`]);
    for (const [key, word] of [["serial", "Serial number"], ["firmware", "Firmware"], ["hardware", "Hardware"]]) {
      if (device[key]) rows.push([word, device[key]]);
    }
    for (const [key, value] of Object.entries(meter.told?.details ?? {})) {
      if (!OF_LOADS.some(([ofLoad]) => ofLoad === key)) rows.push([toldWord(key), toldValue(key, value)]);
    }
    for (const group of meter.told?.groups ?? []) {
      rows.push([`Group ${group.index}`, `${number(group.charge_mAh, 0)} mAh, ${number(group.energy_Wh, 3)} Wh`]);
    }
    if (meter.counted) rows.push(["Counted by meterd", `for ${span(meter.counted.counted_ms)}, since ${moment(meter.counted.since)}`]);
    if (meter.poll_interval_ms) rows.push(["Asked every", `${meter.poll_interval_ms} ms`]);
    if (meter.sampling) rows.push(["Samples by its own clock", samplingWords(meter.sampling)]);
    rows.push(["Since meterd started", `${counts.readings} readings, ${counts.timeouts} time-outs, ` +
      (counts.lost_samples ? `${counts.lost_samples} samples lost, ` : "") +
      `${counts.disconnects} links lost, ${counts.skipped_bytes} bytes skipped`]);
    // Counters count on: what they say changes, and nothing else.
    const words = rows.map(([word]) => word).join("\n");
    if (about.dataset.words !== words) {
      about.dataset.words = words;
      about.replaceChildren(pairs(rows));
    }
    for (const [index, cell] of about.querySelectorAll("dd").entries()) setText(cell, rows[index][1]);
  }

  function tick() {
    const meter = state.meters.get(id);
    if (!meter) return;
    const now = standing(meter);
    raised.update();
    setText(badge, now.word);
    setAttribute(badge, "data-tone", now.tone);
    setAttribute(content, "data-tone", now.tone);
    setText(loss, lossWords(now));
    const lease = leaseWords(meter, confirmed(meter), state.isLive);
    setText(who, [meter.model === nameOf(meter) ? null : meter.model, lease].filter(Boolean).join(" · "));
  }

  function update() {
    const meter = state.meters.get(id);
    content.hidden = !meter;
    gone.hidden = Boolean(meter);
    if (!meter) {
      if (state.isLive) setText(gone, "This host knows no such meter.");
      return;
    }
    if (!rename.isOpen()) setText(title, nameOf(meter));
    setText(error, meter.error ?? "");
    error.hidden = !meter.error;
    drawValues(meter);
    drawAbout(meter);
    buttons.update(meter);
    rename.update(meter);
    commands.update(meter);
    if (meter.hears_pd && powerDelivery === undefined) showPowerDelivery();
    tick();
  }

  update();
  const end = listen((change) => {
    if (change.link) tick();
    if (change.all || change.meters?.includes(id)) {
      update();
      chart.add(state.meters.get(id));
    }
    if (change.refresh) settings.load();
  });
  const ticking = setInterval(tick, 500);
  if (values.from) requestAnimationFrame(() => chart.element.scrollIntoView());
  return () => {
    isOver = true;
    end();
    clearInterval(ticking);
    for (const part of [settings, chart, recordings, alerts, log, powerDelivery]) part?.close();
  };
}

/** How a meter samples that has a clock of its own, or why it does not. */
const samplingWords = ({ wanted, rate, error }) =>
  error ? `not ${wanted} a second: ${error}` : rate ? `${rate} a second` : "being prepared";
