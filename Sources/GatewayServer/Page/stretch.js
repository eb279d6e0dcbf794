// What somebody has selected on a chart: its figures, and what can be made of it.
import { call, meterPath } from "./api.js";
import { ask } from "./dialog.js";
import { el, say, table } from "./dom.js";
import { state } from "./live.js";
import { CURVES } from "./quantities.js";
import { duration, moment, money, nameOf, number } from "./words.js";

const COLUMNS = [["mean", "Mean"], ["min", "Least"], ["max", "Greatest"], ["p5", "5 %"], ["p50", "Median"], ["p95", "95 %"]];
/** How long somebody who still drags is waited for, ms. */
const PATIENCE_MS = 250;

export function stretchPanel(id, acts) {
  const title = el("b");
  const sums = el("span");
  const figures = el("div");
  const save = el("button", { type: "button", class: "main", text: "Save as recording …", onclick: keep });
  const element = el("div", { class: "stretch", hidden: true, role: "region", "aria-label": "Selected stretch" },
    el("div", { class: "head" }, title, sums), figures,
    el("div", { class: "buttons" }, save,
      el("button", { type: "button", text: "Zoom to it", onclick: acts.zoom }),
      el("button", { type: "button", text: "Clear selection", onclick: acts.clear })));
  let shown = null;
  let waiting;
  let request = 0;

  function show(selected) {
    clearTimeout(waiting);
    element.hidden = !selected;
    if (String(selected) === String(shown)) return;
    shown = selected;
    request += 1;
    if (!selected) return;
    title.textContent = `${moment(selected[0])} to ${moment(selected[1])}, ${duration(selected[1] - selected[0])}`;
    sums.textContent = "…";
    save.hidden = !state.session.may_change;
    waiting = setTimeout(load, PATIENCE_MS);
  }

  async function load() {
    const mine = request;
    const [from, to] = shown;
    try {
      const answer = await call("GET", meterPath(id, `/stretch?from=${from}&to=${to}`));
      if (mine === request) draw(answer);
    } catch (error) {
      if (mine !== request) return;
      sums.textContent = "";
      figures.replaceChildren(el("p", { class: "error", text: error.words }));
    }
  }

  function draw(answer) {
    sums.textContent = [
      `${number(answer.energy_Wh, 4)} Wh`, `${number(answer.charge_mAh, 1)} mAh`, `${answer.readings} readings`,
      answer.cost ? money(answer.cost.amount, answer.cost.currency) : null,
      answer.gap_count > 0 ? `${answer.gap_count === 1 ? "a gap" : `${answer.gap_count} gaps`}, which add nothing` : null,
    ].filter(Boolean).join(" · ");
    const rows = CURVES.map((curve) => ({ curve, values: quantity(answer, curve.key) })).filter(({ values }) => values);
    // Quantities side by side: four fit on a phone.
    figures.replaceChildren(rows.length === 0 ? el("p", { class: "empty", text: "No reading in this stretch." })
      : table("Selected stretch", ["", ...rows.map(({ curve }) => curve.word)],
        COLUMNS.map(([key, word]) => [word, ...rows.map(({ curve, values }) =>
          values[key] === null || values[key] === undefined ? "–" : `${number(values[key], curve.digits)} ${curve.unit}`)])));
  }

  async function keep() {
    const [from, to] = shown;
    const name = await ask({ title: "Save as recording", text: `${moment(from)} to ${moment(to)} of ${nameOf(state.meters.get(id) ?? { id })}`,
      yes: "Save", field: { label: "Name", value: "", placeholder: "such as phone, second half" } });
    if (name === null) return;
    try {
      await call("POST", meterPath(id, "/recordings"), { from: new Date(from).toISOString(), to: new Date(to).toISOString(), name: name || null });
      say("Saved as a recording");
      document.dispatchEvent(new CustomEvent("recordings-changed"));
    } catch (error) {
      say(error.words, true);
    }
  }

  return { element, show, close() { clearTimeout(waiting); request += 1; } };
}

/** A quantity of the answer: "voltage", or by the key that readings have. */
const quantity = (answer, key) => answer.quantities?.[key] ?? answer.quantities?.[key.replace(/_[A-Za-z]+$/, "")];
