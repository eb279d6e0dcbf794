// One meter on the overview: what it measures, its last two minutes, who holds it.
import { alertMarks } from "./alertmarks.js";
import { el, setAttribute, setText } from "./dom.js";
import { lossWords, standing } from "./freshness.js";
import { linkButtons } from "./links.js";
import { confirmed, state } from "./live.js";
import { renameButton } from "./rename.js";
import { spark } from "./spark.js";
import { isElsewhere, leaseWords, nameOf, number, reading, transportWord } from "./words.js";

/** `mover` is the button that moves the card. */
export function makeCard(id, mover) {
  const link = el("a", { href: `#/meter/${encodeURIComponent(id)}` });
  const title = el("h2", {}, link);
  const badge = el("span", { class: "badge" });
  const who = el("p", { class: "who" });
  const [volts, amperes, watts] = [el("b"), el("b"), el("b")];
  const scale = el("span", { class: "scale" });
  const sums = el("span", { class: "sums" });
  const curve = spark(id);
  const lease = el("p", { class: "lease" });
  const loss = el("p", { class: "loss" });
  const error = el("p", { class: "error" });
  const raised = alertMarks(id);
  const buttons = linkButtons(() => state.meters.get(id));
  const rename = renameButton(id, title, () => state.meters.get(id));
  const element = el("article", { class: "card" },
    el("div", { class: "top" }, title, rename.element, el("span", { class: "grow" }), mover),
    el("div", { class: "second" }, who, badge),
    el("div", { class: "big" },
      el("p", {}, volts, el("span", { text: "V" })),
      el("p", {}, amperes, el("span", { text: "A" })),
      el("p", {}, watts, el("span", { text: "W" }))),
    curve.element,
    el("p", { class: "below" }, scale, sums),
    raised.element, loss, error, el("div", { class: "foot" }, lease, buttons.element));
  element.dataset.id = id;
  let isSeen = true;

  function tick() {
    const meter = state.meters.get(id);
    if (!meter) return;
    const now = standing(meter);
    setText(badge, now.word);
    setAttribute(badge, "data-tone", now.tone);
    setAttribute(element, "data-tone", now.tone);
    // That meterd is silent stands once, above all cards.
    setText(loss, now.tone === "old" ? "" : lossWords(now));
    loss.hidden = loss.textContent === "";
    setText(lease, leaseWords(meter, confirmed(meter), state.isLive));
    raised.update();
    if (isSeen) curve.draw(scale);
  }

  function update(meter) {
    const name = nameOf(meter);
    if (!rename.isOpen()) setText(link, name);
    setAttribute(mover, "aria-label", `Move ${name}`);
    setText(who, [meter.model && meter.model !== name ? meter.model : null, placeWords(meter)].filter(Boolean).join(" · "));
    const values = meter.reading ?? {};
    setText(volts, reading(values.voltage_V));
    setText(amperes, reading(values.current_A));
    setText(watts, reading(values.power_W));
    setText(sums, [
      Number.isFinite(values.ratio) ? `ratio ${number(values.ratio, 3)}` : null,
      Number.isFinite(values.energy_Wh) ? `${number(values.energy_Wh, 3)} Wh` : null,
      Number.isFinite(values.charge_mAh) ? `${number(values.charge_mAh, 0)} mAh` : null,
      // The meter counts none: these are meterd's own.
      Number.isFinite(values.counted_energy_Wh) ? `counted: ${number(values.counted_energy_Wh, 3)} Wh` : null,
      Number.isFinite(values.counted_charge_mAh) ? `${number(values.counted_charge_mAh, 0)} mAh` : null,
    ].filter(Boolean).join(" · "));
    setText(error, meter.error ?? "");
    error.hidden = !meter.error;
    buttons.update(meter);
    rename.update(meter);
    tick();
  }

  return { element, update, tick, see(value) { isSeen = value; if (value) tick(); } };
}

/** Where a meter is and how it is reached. */
function placeWords(meter) {
  const holder = meter.lease?.holder ?? "another host";
  if (meter.measured_by) return `held by ${meter.measured_by}, seen through it`;
  if (isElsewhere(meter.lease)) return meter.transport ? `here too, ${transportWord(meter.transport)}; held by ${holder}` : `held by ${holder}`;
  return meter.transport ? `here, ${transportWord(meter.transport)}` : "not here";
}
