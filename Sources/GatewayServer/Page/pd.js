// What was heard of USB Power Delivery on a meter's CC line: what was agreed on, what the source offers, and who said what
// when. It is loaded for meters that hear it alone.
import { call, meterPath } from "./api.js";
import { el, setText, table } from "./dom.js";
import { moment, number, preciseMoment } from "./words.js";

/** How often is asked for news, and how often where there is a reason not to answer, ms. */
const PACE_MS = 1000;
const PATIENCE_MS = 10000;
const KINDS = { fixed: "Fixed", variable: "Variable", battery: "Battery", pps: "PPS", avs: "AVS", "epr-avs": "EPR AVS", unknown: "Not known" };
const PARTIES = { source: "Source", sink: "Sink", cable: "Cable", port: "Port" };

export function powerDeliveryPanel(id) {
  const contract = el("p", { class: "agreed" });
  const standing = el("p", { class: "hint" });
  const values = new Map([["voltage_V", "VBUS"], ["current_A", "Current"], ["cc1_V", "CC1"], ["cc2_V", "CC2"]].map(([key, word]) =>
    [key, { word, cell: el("b") }]));
  const offers = el("div");
  const list = el("ol", { class: "said" });
  const box = el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "What was said on the CC line" }, list);
  const missing = el("p", { class: "hint" });
  const error = el("p", { class: "error" });
  const receipts = el("input", { type: "checkbox", onchange: () => list.classList.toggle("whole", receipts.checked) });
  const link = (format, text, title) => el("a", { class: "button", href: meterPath(id, `/pd?format=${format}`), download: true, text, title });
  const element = el("section", { class: "panel pd", "aria-label": "USB Power Delivery" },
    el("h2", { text: "USB Power Delivery" }), error,
    el("div", { class: "now" }, el("div", {}, contract, standing),
      el("dl", { class: "values" }, [...values.values()].map(({ word, cell }) =>
        el("div", {}, el("dt", { text: word }), el("dd", {}, cell, el("span", { text: word === "Current" ? "A" : "V" })))))),
    offers,
    el("div", { class: "tools" }, el("h3", { text: "What was said" }), el("span", { class: "grow" }),
      el("label", { class: "pick" }, receipts, "Receipts too"),
      link("text", "Text", "All of it as text"), link("pcapng", "pcapng", "For Wireshark, with Docs/Examples/usb-pd.lua")),
    missing, box);
  // Asked for as it is scrolled: to ask where new entries are put would have the page laid out twice.
  let isAtEnd = true;
  box.addEventListener("scroll", () => { isAtEnd = box.scrollTop + box.clientHeight >= box.scrollHeight - 40; }, { passive: true });
  let last = 0;
  let offered = "";
  let isOver = false;
  let timer;
  const items = new Map();

  async function load() {
    clearTimeout(timer);
    let pace = PACE_MS;
    if (!document.hidden) {
      try {
        const body = await call("GET", meterPath(id, `/pd?after=${last}`));
        if (isOver) return;
        setText(error, "");
        draw(body);
      } catch (refusal) {
        if (isOver) return;
        setText(error, refusal.words);
        // A meterd that was started anew counts from 1 again.
        last = 0;
        pace = PATIENCE_MS;
      }
    }
    timer = setTimeout(load, pace);
  }

  function draw(body) {
    if (last === 0 || body.last < last) {
      list.replaceChildren();
      items.clear();
    }
    const isNew = body.last !== last;
    for (const entry of body.entries) {
      const item = drawEntry(entry);
      const before = items.get(entry.number);
      if (before) before.replaceWith(item); else list.append(item);
      items.set(entry.number, item);
    }
    while (list.children.length > body.entries_max) list.firstElementChild.remove();
    last = body.last;
    if (isNew && isAtEnd) requestAnimationFrame(() => { box.scrollTop = box.scrollHeight; });
    setText(missing, body.dropped > 0 ? `${body.dropped} older ones are not kept any more.` : last === 0 ? "Nothing was heard yet." : "");
    missing.hidden = missing.textContent === "";
    drawNow(body);
    drawOffers(body);
  }

  function drawNow(body) {
    const agreed = body.contract;
    const wanted = agreed && [[agreed.voltage_V, "V"], [agreed.current_A, "A"], [agreed.power_W, "W"]]
      .filter(([value]) => value !== null).map(([value, unit]) => `${value} ${unit}`).join(", ");
    setText(contract, agreed ? wanted || `Object ${agreed.position}` : "Nothing agreed on");
    contract.classList.toggle("none", !agreed);
    const said = [body.attached === null ? null : body.attached ? "Plugged in" : "Nothing plugged in",
      agreed ? `object ${agreed.position} of the source${agreed.since ? `, since ${moment(agreed.since)}` : ""}` : null,
      agreed || body.attached === false ? null : "what was agreed on before meterd listened is not known",
      body.listening ? null : "meterd is not connected to the meter"];
    setText(standing, said.filter(Boolean).join(" · "));
    for (const [key, { cell }] of values) setText(cell, number(body.line?.[key], 2));
  }

  function drawOffers(body) {
    const text = JSON.stringify([body.capabilities, body.capabilities_at, body.capabilities_current, body.contract?.position]);
    if (text === offered) return;
    offered = text;
    const rows = body.capabilities.map((one) => {
      const inUse = one.position === body.contract?.position;
      return [el("span", { text: one.position }), KINDS[one.kind] ?? one.kind, volts(one), most(one),
        inUse ? el("b", { class: "use", text: "in use" }) : ""];
    });
    const able = body.capabilities[0]?.abilities ?? [];
    offers.replaceChildren(...body.capabilities.length === 0 ? [] : [
      el("h3", { text: "What the source offers" }),
      ...body.capabilities_current ? [] : [el("p", { class: "hint", text: `As of ${moment(body.capabilities_at)}, before the link was lost: nothing else was heard since.` })],
      table("What the source offers", ["Object", "Kind", "Voltage", "At most", "Contract"], rows, ""),
      ...able.length === 0 ? [] : [el("p", { class: "hint", text: `The source ${able.join(", ")}.` })]]);
  }

  load();
  return { element, close() { isOver = true; clearTimeout(timer); } };
}

function volts(one) {
  if (one.voltage_min_V === null) return one.text;
  return one.voltage_min_V === one.voltage_max_V ? `${one.voltage_min_V} V` : `${one.voltage_min_V}–${one.voltage_max_V} V`;
}

const most = (one) => [[one.current_max_A, "A"], [one.power_max_W, "W"]].filter(([value]) => value !== null)
  .map(([value, unit]) => `${value} ${unit}`).join(", ") || "–";

/** With milliseconds: a negotiation is over in a tenth of a second. */
const clock = (text) => preciseMoment(new Date(text));

function drawEntry(entry) {
  const said = entry.message;
  const head = [el("time", { datetime: entry.time, text: clock(entry.time) }), el("span", { class: "volts", text: `${number(entry.line.voltage_V, 2)} V` })];
  if (!said) {
    return el("li", { class: entry.kind === "voltage" ? "mark level" : "mark" }, ...head, el("span", { class: "who" }),
      el("span", { class: "what", text: entry.text.charAt(0).toUpperCase() + entry.text.slice(1) }));
  }
  const who = said.from ? `${PARTIES[said.from]} → ${PARTIES[said.to].toLowerCase()}` : said.sop;
  const more = entry.more > 0 ? ` (${entry.more} more until ${clock(entry.until)})` : "";
  const detail = [said.sop, said.id === null ? null : `message ${said.id}`, said.revision === null ? null : `revision ${said.revision}`]
    .filter(Boolean).join(", ");
  return el("li", { class: said.acknowledges ? "receipt" : null, "data-from": said.from },
    ...head, el("span", { class: "who", text: who }),
    el("details", { class: "what" },
      el("summary", {}, el("b", { text: said.name }), said.meaning ? ` ${said.meaning}` : "", said.resent ? " (again)" : "", more),
      el("p", {}, `${detail} `, el("code", { text: said.bytes }))));
}
