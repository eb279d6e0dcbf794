// Recordings, which are charge sessions: those of one meter or of all, what begins and ends them, and their readings.
import { call, meterPath } from "/api.js";
import { el, say, setAttribute, table } from "/dom.js";
import { listen, state } from "/live.js";
import { moment, nameOf, number, span } from "/words.js";

/** How often the list is looked at anew: while one goes on, which adds up, and while none does. */
const [PACE_MS, CALM_MS] = [5000, 30000];
/** Rows at most. */
const ROWS_MAX = 100;

const MARKS = {
  "host-restarted": "meterd was down in between", "counter-reset": "the meter's counter began anew",
  "counter-jump": "the meter's counter jumped", "empty": "no reading came",
};
const ENDS = { hand: "stopped by hand", threshold: "current fell", gap: "nothing came", settings: "switched off" };

export function recordingsView(place) {
  const panel = recordingsPanel(null);
  place.append(el("h1", { class: "hear", text: "Recordings" }), panel.element);
  return panel.close;
}

/** Those of one meter with what begins and ends one, or, without an id, those of all. */
export function recordingsPanel(id) {
  const list = el("div");
  const name = el("input", { id: "record-name", maxlength: "64", placeholder: "such as phone", autocomplete: "off" });
  const start = el("button", { type: "submit", class: "main", text: "Record" });
  const stop = el("button", { type: "button", text: "Stop recording", hidden: true, onclick: () => ask("DELETE", undefined, "Stopped") });
  const label = el("label", { for: "record-name", text: "Name" });
  const form = el("form", { class: "record", hidden: true, onsubmit: begin }, label, name, start, stop);
  const element = el("section", { class: "panel recordings", "aria-label": "Recordings" },
    el("h2", { text: "Recordings" }), id ? form : null, list);
  let isOver = false;
  let isRunning = false;
  let drawn = "";
  let timer;

  function begin(event) {
    event.preventDefault();
    ask("POST", { name: name.value.trim() || null }, "Recording");
  }

  async function ask(method, body, done) {
    for (const button of [start, stop]) button.disabled = true;
    try {
      await call(method, meterPath(id, "/recording"), body);
      name.value = "";
      say(done);
      await load();
    } catch (error) {
      say(error.words, true);
    } finally {
      for (const button of [start, stop]) button.disabled = false;
    }
  }

  async function load() {
    clearTimeout(timer);
    try {
      const answer = await call("GET", id ? `/v1/recordings?meter=${encodeURIComponent(id)}` : "/v1/recordings");
      if (!isOver) draw(answer.recordings);
    } catch (error) {
      drawn = "";
      list.replaceChildren(el("p", { class: "error", text: error.words }));
    }
    clearTimeout(timer);
    if (!isOver) timer = setTimeout(load, isRunning ? PACE_MS : CALM_MS);
  }

  function draw(recordings) {
    // Of a meter that another host has, that one's recording is begun and ended here.
    const lease = id ? state.meters.get(id)?.lease : undefined;
    const holder = lease?.state === "elsewhere" ? lease.holder_id : undefined;
    isRunning = recordings.some((one) => one.state === "running" && (one.mine || one.host_id === holder));
    const isForeign = Boolean(holder) && Boolean(lease.read_only);
    setAttribute(form, "hidden", !state.session.may_change || isForeign);
    for (const part of [label, name, start]) setAttribute(part, "hidden", isRunning);
    setAttribute(stop, "hidden", !isRunning);
    const text = JSON.stringify(recordings);
    if (text === drawn) return;
    drawn = text;
    // Whoever is in the table with the keyboard stays where they are.
    const key = list.contains(document.activeElement) ? document.activeElement.dataset.key : undefined;
    const heads = ["Name", id ? null : "Meter", "Started", "Charge", "Energy", "Duration", "Readings", "Remarks", "Host"];
    list.replaceChildren(table("Recordings", heads.filter((head) => head !== null),
      recordings.slice(0, ROWS_MAX).map((one) => cells(one).filter((cell) => cell !== null)),
      id ? "Nothing was recorded of this meter yet." : "Nothing was recorded yet: each meter's own page begins a recording."));
    if (recordings.length > ROWS_MAX) {
      list.append(el("p", { class: "hint" }, `${recordings.length - ROWS_MAX} older ones: `, el("code", { text: "meterctl record list" })));
    }
    if (key) [...list.querySelectorAll("[data-key]")].find((link) => link.dataset.key === key)?.focus();
  }

  function cells(one) {
    const meter = state.meters.get(one.meter);
    return [
      one.name ?? one.id, id ? null : meter ? nameOf(meter) : one.meter, moment(one.started),
      one.charge_mAh === null ? "–" : `${number(one.charge_mAh, 0)} mAh`,
      one.energy_Wh === null ? "–" : `${number(one.energy_Wh, 3)} Wh`,
      one.state === "running" && !one.mine ? "–" : span(one.duration_ms),
      one.mine && one.readings > 0 ? links(one) : "–", remarks(one), one.mine ? "this host" : one.host ?? "–",
    ];
  }

  load();
  const end = listen((change) => { if (change.refresh || change.all) load(); });
  return { element, close: () => { isOver = true; end(); clearTimeout(timer); } };
}

function remarks(one) {
  const words = [one.state === "running" ? "goes on" : ENDS[one.end] ?? one.end];
  if (one.gap_count > 0) words.push(`${one.gap_count === 1 ? "1 gap" : `${one.gap_count} gaps`}, ${span(one.gap_ms)} in all`);
  for (const mark of one.marks) if (mark !== "gaps") words.push(MARKS[mark] ?? mark);
  if (one.overlaps.length) words.push(`overlaps ${one.overlaps.join(", ")}`);
  return words.filter(Boolean).join("; ");
}

/** To its curves, and to its readings as files. */
function links(one) {
  const [from, to] = [Date.parse(one.started), Date.parse(one.until)];
  const room = Math.max((to - from) * 0.02, 1000);
  const path = `/v1/recordings/${one.id}/readings`;
  const title = one.name ?? one.id;
  const file = one.name ? `${one.name.replace(/[^\p{L}\p{N}_-]+/gu, "-")}-${one.id}` : one.id;
  const hash = `#/meter/${encodeURIComponent(one.meter)}/${Math.floor(from - room)}-${Math.ceil(to + room)}`;
  const link = (text, what, attributes) => el("a", { "data-key": `${one.id} ${text}`, "aria-label": `${what} of ${title}`, text, ...attributes });
  return el("span", { class: "links" },
    link("Chart", "Chart", { href: hash }),
    link("CSV", "Readings as CSV", { href: path, onclick: (event) => { event.preventDefault(); saveCSV(path, `${file}.csv`); } }),
    link("JSON", "Readings as JSON", { href: path, download: `${file}.jsonl` }));
}

/** Saves readings, one JSON object a line, as a table for spreadsheets. */
async function saveCSV(path, name) {
  try {
    const response = await fetch(path, { cache: "no-store" });
    if (!response.ok) return say(`meterd answered ${response.status}`, true);
    const parts = [];
    let [keys, rest] = [null, ""];
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
      const lines = (rest + piece.value).split("\n");
      rest = lines.pop();
      const readings = lines.filter(Boolean).map((line) => JSON.parse(line));
      if (!readings.length) continue;
      if (!keys) {
        keys = Object.keys(readings[0]).filter((key) => key !== "time");
        parts.push(`${["time", ...keys].join()}\r\n`);
      }
      parts.push(readings.map((one) => `${[one.time, ...keys.map((key) => one[key] ?? "")].join()}\r\n`).join(""));
    }
    const url = URL.createObjectURL(new Blob(parts, { type: "text/csv" }));
    el("a", { href: url, download: name }).click();
    URL.revokeObjectURL(url);
  } catch {
    say("meterd does not answer: see whether it runs", true);
  }
}
