// The curves of a recording as a file.
import { say } from "./dom.js";
import { savePicture } from "./exporting.js";
import { look } from "./plot.js";
import { curveOf, roomFor, USUAL } from "./quantities.js";
import { elapsedMarks } from "./scale.js";
import { loadRecordingSeries } from "./series.js";

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
