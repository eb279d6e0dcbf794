// All meters of this host, a card each, and what one can do with them.
import { call, meterPath } from "/api.js";
import { el, say, setAttribute, setText, svg } from "/dom.js";
import { listen, passed, state } from "/live.js";
import { isElsewhere, leaseWords, nameOf, number, span, standing } from "/words.js";

/** Two minutes of power of each meter, for the small curves. */
const trails = new Map();
const TRAIL_MS = 120000;

listen((change) => {
  for (const id of change.meters ?? []) {
    const meter = state.meters.get(id);
    const power = meter.reading?.power_W;
    if (!meter.readAt || !Number.isFinite(power)) continue;
    const trail = trails.get(id) ?? [];
    if (trail.length && trail[trail.length - 1][0] >= meter.readAt) continue;
    trail.push([meter.readAt, power]);
    while (trail.length > 2 && trail[0][0] < meter.readAt - TRAIL_MS) trail.shift();
    trails.set(id, trail);
  }
});

export function metersView(place) {
  const cards = new Map();
  const grid = el("div", { class: "cards" });
  const empty = el("div", { class: "panel", hidden: true },
    el("h2", { text: "No meter yet" }),
    el("p", { text: "Plug one in, or switch one on within range of this host's Bluetooth adapter. Whatever is found appears here by itself." }),
    el("p", {}, "If nothing does: ", el("code", { text: "meterctl doctor" }), " says what is missing."));
  place.append(el("h1", { class: "hear", text: "Meters" }), empty, grid);

  function update(change) {
    const meters = [...state.meters.values()];
    empty.hidden = meters.length > 0 || !state.isLive;
    if (change.all) {
      for (const [id, card] of cards) {
        if (state.meters.has(id)) continue;
        card.element.remove();
        cards.delete(id);
      }
    }
    for (const id of change.all ? state.meters.keys() : change.meters ?? []) {
      const meter = state.meters.get(id);
      let card = cards.get(id);
      if (!card) {
        card = makeCard(id);
        cards.set(id, card);
        putInOrder(grid, card.element, id);
      }
      card.update(meter);
    }
  }
  update({ all: true });
  const end = listen(update);
  const ticking = setInterval(() => { for (const card of cards.values()) card.tick(); }, 1000);
  return () => { end(); clearInterval(ticking); };
}

function putInOrder(grid, element, id) {
  element.dataset.id = id;
  const next = [...grid.children].find((other) => other.dataset.id > id);
  grid.insertBefore(element, next ?? null);
}

function makeCard(id) {
  const link = el("a", { href: `#/meter/${encodeURIComponent(id)}` });
  const model = el("span", { class: "model" });
  const badge = el("span", { class: "badge" });
  const [volts, amperes, watts] = [el("b"), el("b"), el("b")];
  const more = el("p", { class: "more" });
  const curve = svg("polyline", { points: "", fill: "none", "vector-effect": "non-scaling-stroke" });
  const chart = svg("svg", { class: "curve", viewBox: "0 0 100 24", preserveAspectRatio: "none", "aria-hidden": "true" }, curve);
  const lease = el("p", { class: "lease" });
  const error = el("p", { class: "error" });
  const buttons = actions(() => state.meters.get(id));
  const element = el("article", { class: "card" },
    el("div", { class: "top" }, el("h2", {}, link), badge), model,
    el("div", { class: "big" },
      el("p", {}, volts, el("span", { text: "V" })),
      el("p", {}, amperes, el("span", { text: "A" })),
      el("p", {}, watts, el("span", { text: "W" }))),
    chart, more, lease, error, buttons.element);
  let meter;

  function tick() {
    if (!meter) return;
    const age = meter.age_ms === null ? null : meter.age_ms + passed(meter);
    const parts = [];
    const reading = meter.reading ?? {};
    if (Number.isFinite(reading.energy_Wh)) parts.push(`${number(reading.energy_Wh, 3)} Wh`);
    if (Number.isFinite(reading.charge_mAh)) parts.push(`${number(reading.charge_mAh, 0)} mAh`);
    if (Number.isFinite(reading.temperature_C)) parts.push(`${number(reading.temperature_C, 1)} °C`);
    const { word, state: shown } = standing(meter, age);
    setText(badge, word);
    setAttribute(badge, "data-state", shown);
    setAttribute(element, "data-state", shown);
    if (age !== null && (age > 3000 || shown !== "data-available")) parts.push(`${span(age)} ago`);
    setText(more, parts.join(" · "));
    setText(lease, leaseWords(meter.lease, passed(meter)));
  }

  function update(now) {
    meter = now;
    const reading = meter.reading ?? {};
    setText(link, nameOf(meter));
    setText(model, [meter.model && meter.model !== nameOf(meter) ? meter.model : null, meter.transport, meter.id].filter(Boolean).join(" · "));
    setText(volts, number(reading.voltage_V, 3));
    setText(amperes, number(reading.current_A, 3));
    setText(watts, number(reading.power_W, 3));
    setText(error, meter.error ?? "");
    error.hidden = !meter.error;
    drawTrail(curve, trails.get(id) ?? []);
    buttons.update(meter);
    tick();
  }
  return { element, update, tick };
}

function drawTrail(curve, trail) {
  if (trail.length < 2) return curve.setAttribute("points", "");
  const end = trail[trail.length - 1][0];
  // A curve that has just begun is as wide as it will be.
  const width = Math.max(end - trail[0][0], 15000);
  let [low, high] = [Infinity, -Infinity];
  for (const [, value] of trail) { low = Math.min(low, value); high = Math.max(high, value); }
  // A meter's last digit is no wave.
  const room = Math.max(high - low, Math.abs(high) * 0.02, 1e-3);
  const middle = (low + high) / 2;
  curve.setAttribute("points", trail.map(([time, value]) =>
    `${(100 - (end - time) / width * 100).toFixed(1)},${(12 - (value - middle) / room * 20).toFixed(1)}`).join(" "));
}

/** Connect, take over, disconnect: those that make sense now. */
export function actions(current) {
  const connect = el("button", { type: "button", class: "main", text: "Connect", onclick: () => ask("connect", {}) });
  const takeOver = el("button", { type: "button", text: "Take over", onclick: takeIt });
  const disconnect = el("button", { type: "button", text: "Disconnect", onclick: () => ask("disconnect", undefined) });
  const element = el("div", { class: "buttons" }, connect, takeOver, disconnect);

  function takeIt() {
    const meter = current();
    const holder = meter.lease?.holder ?? "another host";
    if (confirm(`${holder} uses ${nameOf(meter)} just now. Take it over? ${holder} is cut off.`)) ask("connect", { takeover: true });
  }

  async function ask(verb, body) {
    const meter = current();
    setBusy(true);
    try {
      await call("POST", meterPath(meter.id, `/${verb}`), body);
      say(verb === "connect" ? `${nameOf(meter)}: connecting` : `${nameOf(meter)}: let go`);
    } catch (error) {
      say(error.words, true);
    } finally {
      setBusy(false);
    }
  }

  function setBusy(isBusy) {
    for (const button of [connect, takeOver, disconnect]) button.disabled = isBusy;
  }

  function update(meter) {
    const name = nameOf(meter);
    const isElse = isElsewhere(meter.lease);
    setAttribute(element, "hidden", !state.session.may_change);
    setAttribute(connect, "hidden", meter.wanted || isElse);
    // A host that may only look takes nothing from others.
    setAttribute(takeOver, "hidden", !isElse || Boolean(meter.lease?.read_only));
    setAttribute(disconnect, "hidden", !meter.wanted);
    setAttribute(connect, "aria-label", `Connect ${name}`);
    setAttribute(takeOver, "aria-label", `Take over ${name}`);
    setAttribute(disconnect, "aria-label", `Disconnect ${name}`);
  }
  return { element, update };
}
