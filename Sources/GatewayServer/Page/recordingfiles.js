// A recording as files: its readings as a table, its curves as a picture.
import { say } from "/dom.js";
import { saveBlob, savePicture } from "/exporting.js";
import { look } from "/plot.js";
import { curveOf, roomFor, USUAL } from "/quantities.js";
import { elapsedMarks } from "/scale.js";
import { loadRecordingSeries } from "/series.js";

const [WIDTH, HEIGHT, POINTS] = [1200, 600, 1500];

/** The curves of a recording from its start on, as SVG or PNG. */
export async function saveChart(recording, name, kind) {
  try {
    const track = await loadRecordingSeries(recording.id, POINTS, USUAL);
    const start = Date.parse(recording.started);
    const colours = look();
    const t = track.t.map((time) => time - start);
    const curves = USUAL.map((key) => ({ ...curveOf(key), colour: colours.read(curveOf(key).colour), t, gap: track.gap, ...track.columns[key] }));
    await savePicture({
      curves, width: WIDTH, height: HEIGHT, from: 0, to: Math.max(1000, Date.parse(recording.until) - start), marks: elapsedMarks,
      room: (unit, value) => roomFor(unit, null, value), fit: "data", gaps: [], select: null, look: colours,
    }, name, kind);
  } catch (error) {
    say(error.words ?? "The picture could not be made", true);
  }
}

/** Saves readings, one JSON object a line, as a table for spreadsheets. */
export async function saveCSV(recording, name) {
  try {
    const response = await fetch(`/v1/recordings/${encodeURIComponent(recording.id)}/readings`, { cache: "no-store" });
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
        keys = Object.keys(readings[0]).filter((key) => key !== "time" && key !== "told");
        parts.push(`${["time", ...keys].join()}\r\n`);
      }
      parts.push(readings.map((one) => `${[one.time, ...keys.map((key) => one[key] ?? "")].join()}\r\n`).join(""));
    }
    saveBlob(new Blob(parts, { type: "text/csv" }), name);
  } catch {
    say("meterd does not answer: see whether it runs", true);
  }
}
