// What happened to one meter, on this host and on others. What it recorded by itself is not shown on the page.
import { call, meterPath } from "./api.js";
import { el, setText, table } from "./dom.js";
import { moment } from "./words.js";

/** How often it is looked at anew: other hosts are asked each time. */
const PACE_MS = 60000;
/** Lines at most, the newest. */
const LINES_MAX = 100;

export function logPanel(id) {
  const list = el("div");
  const missing = el("p", { class: "hint" });
  const element = el("section", { class: "panel log", "aria-label": "What happened" },
    el("h2", { text: "What happened" }), list, missing);
  let isOver = false;
  let timer;

  async function load() {
    clearTimeout(timer);
    try {
      const body = await call("GET", meterPath(id, `/log?limit=${LINES_MAX}`));
      if (isOver) return;
      // The newest first, as on the rest of the page.
      const rows = body.log.reverse().map((line) => [when(line), line.host ?? "–", what(line), line.by ?? "–"]);
      list.replaceChildren(table("What happened", ["When", "Where", "What", "Who"], rows, "Nothing is known to have happened."));
      const lack = lacking(body);
      setText(missing, lack);
      missing.hidden = lack === "";
    } catch (refusal) {
      if (!isOver) list.replaceChildren(el("p", { class: "error", text: refusal.words }));
    }
    if (!isOver) timer = setTimeout(load, PACE_MS);
  }

  load();
  return { element, close() { isOver = true; clearTimeout(timer); } };
}

function when(line) {
  if (line.until === null) return `${moment(line.at)} – now`;
  const first = moment(line.at);
  const last = moment(line.until);
  return first === last ? first : `${first} – ${last}`;
}

function what(line) {
  const times = line.count > 1 ? ` (${line.count} times)` : "";
  const detail = line.detail ? `: ${line.detail}` : "";
  switch (line.kind) {
    case "held": return `Held over ${line.what}, ${tokens(line)}${line.until === null ? "" : detail}${times}`;
    case "setting": return `${line.what} = ${line.detail ?? "default"}`;
    case "mark": return `Mark: ${line.what}`;
    case "remedy": return `Adapter ${line.adapter ?? "–"}: ${line.what}${detail}${times}`;
    default: return `${line.what}${detail}${times}`;
  }
}

function tokens(line) {
  if (line.token === null) return "without a lease";
  return line.last_token === null || line.last_token === line.token
    ? `token ${line.token}` : `tokens ${line.token} to ${line.last_token}`;
}

function lacking(body) {
  const said = [];
  if (body.cut) said.push("There are older lines: meterctl log shows them.");
  if (body.others === "none") said.push("Only this host’s part: it belongs to no cloud.");
  if (body.others === "unreachable") said.push("Only this host’s part: the cloud cannot be asked.");
  if (body.silent.length > 0) said.push(`No answer from ${body.silent.join(", ")}.`);
  if (body.unshared.length > 0) said.push(`${body.unshared.join(", ")}: nothing is shared.`);
  return said.join(" ");
}
