// One meter: its values, its curves, its recordings, its settings and who changed them, and what happened to it.
import { call, meterPath } from "/api.js";
import { chartPanel } from "/chart.js";
import { el, say, setAttribute, setText, table } from "/dom.js";
import { pairs, section } from "/host.js";
import { linkButtons } from "/links.js";
import { confirmed, listen, state } from "/live.js";
import { logPanel } from "/log.js";
import { recordingsPanel } from "/recordings.js";
import { lossWords, standing } from "/freshness.js";
import { leaseWords, moment, nameOf, number, QUANTITIES } from "/words.js";

const HINTS = {
  "name": "1 to 64 characters",
  "notes": "up to 1000 characters",
  "poll-interval": "such as 500ms or 2s",
  "stale-after": "such as 5s",
  "temperature-unit": "C or F",
  "record-above": "such as 50mA: a recording begins by itself",
  "record-hold": "such as 10s",
  "record-gap": "such as 10m",
};

/** `values`: what the address says of its chart. */
export function meterView(place, id, values) {
  const title = el("h1");
  const badge = el("span", { class: "badge" });
  const lease = el("p", { class: "lease" });
  const loss = el("p", { class: "loss" });
  const error = el("p", { class: "error" });
  const buttons = linkButtons(() => state.meters.get(id));
  const figures = el("dl", { class: "values" });
  const settings = el("div");
  const history = el("div");
  const about = el("div");
  const gone = el("p", { class: "panel", text: "Loading …" });
  const chart = chartPanel(id, values);
  const recordings = recordingsPanel(id);
  const log = logPanel(id);
  const content = el("div", { hidden: true },
    el("div", { class: "panel head" },
      el("div", { class: "top" }, title, badge), lease, loss, error, figures, buttons.element),
    chart.element, recordings.element,
    section("Settings", settings), section("Who changed what", history), log.element,
    section("About", about));
  place.append(el("p", { class: "back" }, el("a", { href: "#/", text: "← All meters" })), gone, content);

  const cells = new Map();
  let isOver = false;

  function drawValues(meter) {
    const known = QUANTITIES.filter(([key]) => meter.reading && key in meter.reading);
    const keys = known.map(([key]) => key).join();
    if (figures.dataset.keys !== keys) {
      figures.dataset.keys = keys;
      cells.clear();
      figures.replaceChildren(...known.map(([key, word, unit]) => {
        const cell = el("b");
        cells.set(key, cell);
        return el("div", {}, el("dt", { text: word }), el("dd", {}, cell, unit ? el("span", { text: unit }) : null));
      }));
    }
    for (const [key, , , digits] of known) setText(cells.get(key), number(meter.reading[key], digits));
  }

  function drawAbout(meter) {
    const device = meter.device ?? {};
    const counts = meter.counters;
    const rows = [["Model", meter.model ?? "not known"], ["Id", meter.id],
      ["Link", [meter.transport, meter.port].filter(Boolean).join(", ") || "–"], ["State since", moment(meter.since)]];
    if (meter.rssi !== null) rows.push(["Signal", `${meter.rssi} dBm`]);
    for (const [key, word] of [["serial", "Serial number"], ["firmware", "Firmware"], ["hardware", "Hardware"]]) {
      if (device[key]) rows.push([word, device[key]]);
    }
    if (meter.poll_interval_ms) rows.push(["Asked every", `${meter.poll_interval_ms} ms`]);
    rows.push(["Since meterd started", `${counts.readings} readings, ${counts.timeouts} time-outs, ` +
      `${counts.disconnects} links lost, ${counts.skipped_bytes} bytes skipped`]);
    const text = JSON.stringify(rows);
    if (about.dataset.rows === text) return;
    about.dataset.rows = text;
    about.replaceChildren(pairs(rows));
  }

  function tick() {
    const meter = state.meters.get(id);
    if (!meter) return;
    const now = standing(meter);
    setText(badge, now.word);
    setAttribute(badge, "data-tone", now.tone);
    setAttribute(content, "data-tone", now.tone);
    setText(loss, lossWords(now));
    setText(lease, leaseWords(meter.lease, confirmed(meter), state.isLive));
  }

  function update() {
    const meter = state.meters.get(id);
    content.hidden = !meter;
    gone.hidden = Boolean(meter);
    if (!meter) {
      if (state.isLive) setText(gone, "This host knows no such meter.");
      return;
    }
    setText(title, nameOf(meter));
    setText(error, meter.error ?? "");
    error.hidden = !meter.error;
    drawValues(meter);
    drawAbout(meter);
    buttons.update(meter);
    tick();
  }

  async function loadSettings() {
    try {
      const [now, past] = await Promise.all([
        call("GET", meterPath(id, "/settings")), call("GET", meterPath(id, "/history?limit=50"))]);
      if (isOver) return;
      // Somebody who types just now, or has not saved yet, is not disturbed.
      const isBusy = settings.contains(document.activeElement) || isChanged(settings);
      if (!isBusy) settings.replaceChildren(settingsForm(id, now, loadSettings));
      history.replaceChildren(table("Who changed what", ["When", "Who", "Setting", "From", "To"],
        past.history.map((line) => [moment(line.overwritten.at), author(line.overwritten), line.key,
          line.old ?? "not set", line.deleted ? "deleted" : line.new ?? "default"]), "Nothing was overwritten yet."));
    } catch (refusal) {
      if (!isOver) settings.replaceChildren(el("p", { class: "error", text: refusal.words }));
    }
  }

  update();
  loadSettings();
  const end = listen((change) => {
    if (change.link) tick();
    if (change.all || change.meters?.includes(id)) {
      update();
      chart.add(state.meters.get(id));
    }
    if (change.refresh) loadSettings();
  });
  const ticking = setInterval(tick, 500);
  if (values.from) requestAnimationFrame(() => chart.element.scrollIntoView());
  return () => { isOver = true; end(); clearInterval(ticking); chart.close(); recordings.close(); log.close(); };
}

// A stamp is its sender's word: where another host brought it to the cloud, that one is named too.
function author(line) {
  const name = line.host ?? "–";
  const bringer = line.brought_by ?? line.brought_by_id;
  return bringer ? `${name}, brought by ${bringer}` : name;
}

const isChanged = (form) => [...form.querySelectorAll("input, textarea")].some((input) => input.value !== input.dataset.was);

function settingsForm(id, now, done) {
  const form = el("form", { class: "settings", onsubmit: save });
  for (const key of now.known) {
    const field = `set-${key}`;
    const value = now.settings[key] ?? "";
    const input = key === "notes"
      ? el("textarea", { id: field, name: key, rows: "2", readonly: !state.session.may_change })
      : el("input", { id: field, name: key, readonly: !state.session.may_change, placeholder: "default", title: HINTS[key] });
    input.value = value;
    input.dataset.was = value;
    form.append(el("label", { for: field, text: key }), input);
  }
  const error = el("p", { class: "error", role: "alert" });
  if (state.session.may_change) form.append(error, el("div", { class: "buttons" }, el("button", { type: "submit", class: "main", text: "Save" })));
  return form;

  async function save(event) {
    event.preventDefault();
    error.textContent = "";
    const changes = {};
    for (const input of form.querySelectorAll("input, textarea")) {
      if (input.value !== input.dataset.was) changes[input.name] = input.value === "" ? null : input.value;
    }
    if (Object.keys(changes).length === 0) return say("Nothing to save");
    try {
      await call("PATCH", meterPath(id, "/settings"), { settings: changes });
      for (const input of form.querySelectorAll("input, textarea")) input.dataset.was = input.value;
      document.activeElement?.blur();
      say("Saved");
      done();
    } catch (refusal) {
      error.textContent = refusal.words;
    }
  }
}
