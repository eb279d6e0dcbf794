// Marks of one meter: what sets one, and the list of those that the chart shows. The chart draws them.
import { call, meterPath } from "./api.js";
import { ask } from "./dialog.js";
import { el, say, setAttribute } from "./dom.js";
import { listen, state } from "./live.js";
import { deletions } from "./undo.js";
import { duration, moment } from "./words.js";

/** How often the list is read anew without a sign of change: marks of this host alone give none. */
const PACE_MS = 30000;
/** Rows at most, the latest. */
const ROWS_MAX = 50;
const NAME_MAX = "80";
const pathOf = (mark) => `v1/marks/${encodeURIComponent(mark.id)}`;

/** `acts`: changed(), what the chart shows is to be drawn; selected(), the stretch that somebody selected, or null. */
export function marksPanel(id, acts) {
  let marks = [];
  let view = [0, Infinity];
  let timer;
  let drawn = "";
  let isOver = false;
  const name = el("input", { id: "mark-name", maxlength: NAME_MAX, placeholder: "such as screen on", autocomplete: "off", required: "" });
  const add = el("button", { type: "submit", class: "main", text: "Mark now" });
  const open = el("button", { type: "button", text: "Begin a span", onclick: () => { if (form.reportValidity()) send({ open: true }); } });
  const form = el("form", { class: "record", hidden: true, onsubmit: submit }, el("label", { for: "mark-name", text: "Mark" }), name, add, open);
  const list = el("ul", { class: "marks" });
  const summary = el("summary", { text: "Marks" });
  const all = el("details", { hidden: true }, summary, list);
  const element = el("div", { role: "region", "aria-label": "Marks" }, form, all);

  function submit(event) {
    event.preventDefault();
    const selected = acts.selected();
    send(selected ? { at: new Date(selected[0]).toISOString(), end: new Date(selected[1]).toISOString() } : {});
  }

  async function send(times) {
    if (await change("POST", meterPath(id, "/marks"), { name: name.value, ...times }, "Marked")) name.value = "";
  }

  async function change(method, path, body, done) {
    try {
      await call(method, path, body);
      say(done);
      await load();
      return true;
    } catch (error) {
      say(error.words, true);
      return false;
    }
  }

  async function rename(mark) {
    const text = await ask({ title: `Rename ${mark.name}`, yes: "Save", field: { label: "Name", value: mark.name, maxlength: NAME_MAX } });
    if (text) change("PATCH", pathOf(mark), { name: text }, "Saved");
  }

  function erase(mark) {
    deletions.begin(mark.id, `${mark.name}: deleted`, pathOf(mark), load);
    load();
  }

  async function load() {
    clearTimeout(timer);
    try {
      const answer = await call("GET", meterPath(id, "/marks"));
      marks = answer.marks.filter((one) => !deletions.has(one.id))
        .map((one) => ({ ...one, start: Date.parse(one.from), end: one.to === null ? null : Date.parse(one.to) }));
    } catch { /* The chart says what is wrong. */ }
    clearTimeout(timer);
    if (isOver) return;
    timer = setTimeout(load, PACE_MS);
    acts.changed();
  }

  function row(mark) {
    const button = (text, act) => el("button", { type: "button", class: "quiet", text, "aria-label": `${text} ${mark.name}`, onclick: act });
    const times = mark.end === null ? `${moment(mark.from)}, goes on`
      : mark.end > mark.start ? `${moment(mark.from)}, ${duration(mark.end - mark.start)}` : moment(mark.from);
    const place = [mark.host, mark.is_local ? "this host alone" : null].filter(Boolean).join(", ");
    return el("li", {}, el("b", { text: mark.name }), el("span", { class: "hint", text: [times, place].filter(Boolean).join(" · ") }),
      state.session.may_change ? el("span", { class: "buttons" },
        mark.end === null ? button("End", () => change("PATCH", pathOf(mark), { end: "now" }, "Ended")) : null,
        button("Rename", () => rename(mark)), button("Delete", () => erase(mark))) : null);
  }

  /** Those from `from` to `to`, for the chart; the list has the same. */
  function within(from, to) {
    view = [from, to];
    const found = marks.filter((one) => one.start <= view[1] && (one.end === null || one.end >= view[0]));
    setAttribute(form, "hidden", !state.session.may_change);
    const label = acts.selected() ? "Mark the selection" : "Mark now";
    if (add.textContent !== label) add.textContent = label;
    const shown = found.slice(-ROWS_MAX);
    const text = JSON.stringify([shown, found.length, state.session.may_change]);
    if (text !== drawn) {
      drawn = text;
      setAttribute(all, "hidden", found.length === 0);
      summary.textContent = found.length > ROWS_MAX ? `Marks: the latest ${ROWS_MAX} of ${found.length}` : `Marks: ${found.length}`;
      list.replaceChildren(...shown.map(row));
    }
    return found;
  }

  load();
  const end = listen((what) => { if (what.refresh) load(); });
  return { element, within, close() { isOver = true; end(); clearTimeout(timer); } };
}
