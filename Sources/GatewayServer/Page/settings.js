// The settings of one meter, and who changed them.
import { call, meterPath } from "./api.js";
import { el, say, table } from "./dom.js";
import { state } from "./live.js";
import { kindOf, valueWords } from "./settingkinds.js";
import { settingRow } from "./settingrow.js";
import { watchUnsaved } from "./unsaved.js";
import { moment } from "./words.js";

export function settingsPanel(id) {
  const list = el("div");
  const history = el("div");
  const error = el("p", { class: "error", hidden: true });
  const element = el("section", { class: "panel settings", "aria-label": "Settings" }, el("h2", { text: "Settings" }), error, list);
  const historyPanel = el("section", { class: "panel", "aria-label": "Who changed what" }, el("h2", { text: "Who changed what" }), history);
  const rows = new Map();
  let isOver = false;
  const unwatch = watchUnsaved(() => [...rows.values()].some((row) => row.isDirty()));

  async function load() {
    try {
      const [now, past] = await Promise.all([call("GET", meterPath(id, "/settings")), call("GET", meterPath(id, "/history?limit=100"))]);
      if (isOver) return;
      error.hidden = true;
      for (const key of now.known) {
        const detail = now.details?.find((one) => one.key === key);
        // What the meter does not have, and nobody has set.
        if (!rows.has(key) && !detail) continue;
        if (!rows.has(key)) {
          rows.set(key, settingRow(id, key, (label) => { if (label) say(`${label}: saved`); load(); }));
          list.append(rows.get(key).element);
        }
        const value = now.settings[key] ?? null;
        rows.get(key).update(value, originOf(detail), detail?.default ?? null);
      }
      drawHistory(past.history);
    } catch (refusal) {
      error.textContent = refusal.words;
      error.hidden = false;
    }
  }

  function drawHistory(lines) {
    const model = state.meters.get(id)?.model;
    const value = (key, text) => text === null ? null : valueWords(kindOf(key, model), text);
    history.replaceChildren(table("Who changed what", ["When", "Who", "Setting", "From", "To"],
      lines.map((line) => [moment(line.overwritten.at), author(line.overwritten), kindOf(line.key, model).label,
        value(line.key, line.old) ?? "not set", line.deleted ? "deleted" : value(line.key, line.new) ?? "default"]),
      "Nothing was overwritten yet."));
  }

  load();
  return { element, past: historyPanel, load, close() { isOver = true; unwatch(); } };
}

/** Where the value in force comes from; null where that is not known, or it is the default and always was. */
function originOf(detail) {
  if (!detail?.at) return null;
  return `by ${detail.origin === "here" ? "this host" : detail.host ?? "another host"}, ${moment(detail.at)}`;
}

// A stamp is its sender's word: where another host brought it to the cloud, that one is named too.
function author(line) {
  const name = line.host ?? "–";
  const bringer = line.brought_by ?? line.brought_by_id;
  return bringer ? `${name}, brought by ${bringer}` : name;
}
