// Recordings, which are charge sessions: those of one meter or of all, what begins and ends them, and which to compare.
import { call, meterPath } from "./api.js";
import { batteryTestForm } from "./batterytest.js";
import { el, say, setAttribute } from "./dom.js";
import { listen, state } from "./live.js";
import { recordingItem } from "./recordingitem.js";
import { deletions } from "./undo.js";

/** How often the list is looked at anew: while one goes on, which adds up, and while none does. */
const [PACE_MS, CALM_MS] = [5000, 30000];
/** Rows at most. */
const ROWS_MAX = 100;

export function recordingsView(place) {
  const panel = recordingsPanel(null);
  place.append(el("h1", { class: "hear", text: "Recordings" }), panel.element);
  return panel.close;
}

/** Those of one meter with what begins and ends one, or, without an id, those of all. */
export function recordingsPanel(id) {
  const list = el("ul");
  const nothing = el("p", { class: "empty", hidden: true });
  const older = el("p", { class: "hint", hidden: true });
  const name = el("input", { id: "record-name", maxlength: "64", placeholder: "such as phone", autocomplete: "off" });
  const start = el("button", { type: "submit", class: "main", text: "Record" });
  const stop = el("button", { type: "button", text: "Stop recording", hidden: true, onclick: () => ask("DELETE", undefined, "Stopped") });
  const label = el("label", { for: "record-name", text: "Name" });
  const form = el("form", { class: "record", hidden: true, onsubmit: begin }, label, name, start, stop);
  const test = id ? batteryTestForm(id, load) : null;
  const compare = el("a", { class: "button", hidden: true, text: "Compare" });
  const element = el("section", { class: "panel recordings", "aria-label": "Recordings" },
    el("div", { class: "tools" }, el("h2", { text: "Recordings" }), el("span", { class: "grow" }), compare,
      id ? null : el("a", { class: "button", href: "#/efficiency", text: "Efficiency of two meters" })),
    id ? form : null, test?.element, list, nothing, older);
  const picked = new Set();
  const items = new Map();
  let isOver = false;
  let isRunning = false;
  let shown = null;
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
      const answer = await call("GET", id ? `v1/recordings?meter=${encodeURIComponent(id)}` : "v1/recordings");
      shown = answer.recordings.filter((one) => !deletions.has(one.id));
      if (!isOver) draw(shown);
    } catch (error) {
      nothing.hidden = false;
      nothing.className = "error";
      nothing.textContent = error.words;
    }
    clearTimeout(timer);
    if (!isOver) timer = setTimeout(load, isRunning ? PACE_MS : CALM_MS);
  }

  function draw(recordings) {
    // Of a meter that another host has, that one's recording is begun and ended here.
    const lease = id ? state.meters.get(id)?.lease : undefined;
    const holder = lease?.state === "elsewhere" ? lease.holder_id : undefined;
    isRunning = recordings.some((one) => one.state !== "ended" && (one.mine || one.host_id === holder));
    const isTest = recordings.some((one) => one.state !== "ended" && one.test);
    stop.textContent = isTest ? "Stop the battery test" : "Stop recording";
    const isForeign = Boolean(holder) && Boolean(lease.read_only);
    setAttribute(form, "hidden", !state.session.may_change || isForeign);
    for (const part of [label, name, start]) setAttribute(part, "hidden", isRunning);
    setAttribute(stop, "hidden", !isRunning);
    // A test is run by the host that measures.
    test?.show(!form.hidden && !isRunning && !holder);
    drawItems(recordings.slice(0, ROWS_MAX));
    nothing.className = "empty";
    nothing.hidden = recordings.length > 0;
    nothing.textContent = id ? "Nothing was recorded of this meter yet." : "Nothing was recorded yet: each meter’s own page begins a recording.";
    older.hidden = recordings.length <= ROWS_MAX;
    older.replaceChildren(`${recordings.length - ROWS_MAX} older ones: `, el("code", { text: "meterctl record list" }));
  }

  /** Each keeps its element, so that whoever is in it with the keyboard stays there. */
  function drawItems(recordings) {
    const ids = new Set(recordings.map((one) => one.id));
    for (const [key, item] of items) {
      if (ids.has(key)) continue;
      item.element.remove();
      items.delete(key);
      picked.delete(key);
    }
    let before = null;
    for (const one of recordings) {
      if (!items.has(one.id)) items.set(one.id, recordingItem({ isOfOne: Boolean(id), reload: load, pick }));
      const { element: item, update } = items.get(one.id);
      update(one);
      const place = before ? before.nextSibling : list.firstChild;
      if (place !== item) list.insertBefore(item, place);
      before = item;
    }
    showCompare();
  }

  function pick(key, isPicked) {
    if (isPicked) picked.add(key); else picked.delete(key);
    showCompare();
  }

  function showCompare() {
    compare.hidden = picked.size < 2;
    compare.textContent = `Compare ${picked.size}`;
    compare.href = `#/compare?recordings=${[...picked].join(",")}`;
  }

  load();
  const end = listen((change) => {
    if (change.refresh) load();
    // Now the meters' names are known.
    else if (change.all && shown) draw(shown);
  });
  document.addEventListener("recordings-changed", load);
  return { element, close: () => { isOver = true; end(); clearTimeout(timer); document.removeEventListener("recordings-changed", load); } };
}
