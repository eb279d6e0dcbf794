// One recording in the list: its figures, its files, and what can be done with it.
import { writeAddress } from "./address.js";
import { call } from "./api.js";
import { testWords } from "./batterytest.js";
import { ask } from "./dialog.js";
import { el, say, setAttribute, setText } from "./dom.js";
import { state } from "./live.js";
import { fileName } from "./exporting.js";
import { saveChart } from "./recordingfiles.js";
import { deletions } from "./undo.js";
import { duration, moment, money, nameOf, number, span } from "./words.js";

const MARKS = {
  "host-restarted": "meterd was down in between", "counter-reset": "the meter’s counter began anew",
  "counter-jump": "the meter’s counter jumped: another group was chosen", "empty": "no reading came",
};
const ENDS = { hand: "stopped by hand", threshold: "current fell", cutoff: "cut-off reached", gap: "nothing came", settings: "switched off" };

export const titleOf = (recording) => recording.name ?? recording.id;
const pathOf = (recording, rest = "") => `v1/recordings/${encodeURIComponent(recording.id)}${rest}`;

/** Where a recording is drawn: with the rest of its meter's readings, or alone where they came from a file. */
export function chartAddress(recording) {
  if (recording.imported) return writeAddress(["compare"], { recordings: recording.id });
  const [from, to] = [Date.parse(recording.started), Date.parse(recording.until)];
  const room = Math.max((to - from) * 0.02, 1000);
  return writeAddress(["meter", recording.meter], { from: Math.floor(from - room), to: Math.ceil(to + room) });
}

export function recordingItem({ isOfOne, reload, pick }) {
  const title = el("h3");
  const who = el("p", { class: "hint" });
  const [charge, energy, length, cost] = [el("b"), el("b"), el("b"), el("b")];
  const remark = el("p", { class: "hint" });
  const outcome = el("p", { class: "outcome" });
  const note = el("p", { class: "note" });
  const box = el("input", { type: "checkbox", onchange: () => pick(one.id, box.checked) });
  const picker = el("label", { class: "pick" }, box, "Compare");
  const file = () => one.name ? `${fileName(one.name)}-${one.id}` : one.id;
  const chart = el("a", { class: "button", text: "Chart" });
  const csv = el("a", { class: "button", text: "CSV" });
  const json = el("a", { class: "button", text: "JSON" });
  const picture = (kind) => el("button", { type: "button", text: kind.toUpperCase(), onclick: () => saveChart(one, file(), kind) });
  const [svgFile, pngFile] = [picture("svg"), picture("png")];
  const files = el("span", { class: "buttons links" }, chart, csv, json, svgFile, pngFile);
  const [rename, write, remove] = [
    el("button", { type: "button", class: "quiet", text: "Rename", onclick: () => describe("name", "Name", "64") }),
    el("button", { type: "button", class: "quiet", text: "Note", onclick: () => describe("note", "Note", "1000") }),
    el("button", { type: "button", class: "quiet", text: "Delete", onclick: erase }),
  ];
  const changes = el("span", { class: "buttons" }, rename, write, remove);
  const element = el("li", { class: "recording" },
    el("div", {}, title, who),
    el("div", {}, el("p", { class: "figures" }, el("span", {}, charge), el("span", {}, energy), el("span", {}, length), el("span", {}, cost)), outcome, remark),
    el("div", { class: "actions" }, picker, files, changes), note);
  let one;

  async function describe(key, label, maxlength) {
    const text = await ask({ title: `${label} of ${titleOf(one)}`, yes: "Save", field: { label, value: one[key] ?? "", maxlength } });
    if (text === null) return;
    try {
      await call("PATCH", pathOf(one), { [key]: text });
      say("Saved");
      reload();
    } catch (error) {
      say(error.words, true);
    }
  }

  function erase() {
    const gone = one;
    deletions.begin(gone.id, `${titleOf(gone)}: deleted`, pathOf(gone), reload);
    reload();
  }

  function update(recording) {
    one = recording;
    const name = titleOf(one);
    const meter = state.meters.get(one.meter);
    setText(title, name);
    const place = one.mine ? "this host" : one.host ?? "another host";
    setText(who, [isOfOne ? null : meter ? nameOf(meter) : one.meter, moment(one.started), place].filter(Boolean).join(" · "));
    // Of a battery the size counts, whether it was filled or emptied.
    const size = (value) => one.test && Number.isFinite(value) ? Math.abs(value) : value;
    setText(charge, one.charge_mAh === null ? "– mAh" : `${number(size(one.charge_mAh), 0)} mAh`);
    setText(energy, one.energy_Wh === null ? "– Wh" : `${number(size(one.energy_Wh), 3)} Wh`);
    setAttribute(element, "data-kind", one.test ? "test" : null);
    setText(outcome, one.test ? testWords(one) : "");
    outcome.hidden = !one.test;
    setText(cost, one.cost ? money(one.cost.amount, one.cost.currency) : "");
    setText(length, one.state === "running" && !one.mine ? "–" : duration(one.duration_ms));
    setText(remark, remarks(one));
    setText(note, one.note ?? "");
    note.hidden = !one.note;
    const hasReadings = one.mine && one.readings > 0;
    setAttribute(files, "hidden", !hasReadings);
    setAttribute(picker, "hidden", !hasReadings);
    setAttribute(changes, "hidden", !state.session.may_change);
    setAttribute(remove, "hidden", one.state !== "ended");
    setAttribute(chart, "href", chartAddress(one));
    setAttribute(csv, "href", pathOf(one, "/readings?format=csv"));
    setAttribute(csv, "download", `${file()}.csv`);
    setAttribute(json, "href", pathOf(one, "/readings"));
    setAttribute(json, "download", `${file()}.jsonl`);
    for (const [button, words] of [
      [chart, "Chart of"], [csv, "Readings as CSV of"], [json, "Readings as JSON of"], [svgFile, "Chart as SVG of"], [pngFile, "Chart as PNG of"],
      [rename, "Rename"], [write, "Note on"], [remove, "Delete"], [box, "Compare"],
    ]) setAttribute(button, "aria-label", `${words} ${name}`);
  }
  return { element, update };
}

function remarks(one) {
  const words = [one.imported ? `imported (${one.imported})` : one.test ? null : one.state === "running" ? "goes on" : ENDS[one.end] ?? one.end];
  if (one.gap_count > 0) words.push(`${one.gap_count === 1 ? "1 gap" : `${one.gap_count} gaps`}, ${span(one.gap_ms)} in all`);
  for (const mark of one.marks) if (mark !== "gaps" && mark !== "imported") words.push(MARKS[mark] ?? mark);
  if (one.overlaps.length) words.push(`overlaps ${one.overlaps.join(", ")}`);
  return words.filter(Boolean).join("; ");
}
