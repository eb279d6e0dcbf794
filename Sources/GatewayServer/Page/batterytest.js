// A battery test: its cut-off, when it begins, and who is told; and how one stands, in words.
import { targets } from "/alerts.js";
import { call, meterPath } from "/api.js";
import { el, say, setAttribute } from "/dom.js";
import { number, QUANTITIES } from "/words.js";

/** What may end a test: how it is called, the beginning of its condition, unit, and what is usual. */
const CUTOFFS = [
  ["Current falls below", "current <", "mA", "50"],
  ["Voltage falls below", "voltage <", "V", "3.0"],
  ["Power falls below", "power <", "W", "0.5"],
  ["Voltage rises above", "voltage >", "V", "4.2"],
  ["Temperature rises above", "temperature >", "°C", "45"],
];

/** A form for a test of one meter, closed at first. `begun` is called once one goes on or waits. */
export function batteryTestForm(id, begun) {
  const field = (key, label, input) => {
    input.id = `test-${key}`;
    return el("span", { class: "field" }, el("label", { for: input.id, text: label }), input);
  };
  const what = el("select", { onchange: choose }, ...CUTOFFS.map(([word], place) => el("option", { value: String(place), text: word })));
  const limit = el("input", { inputmode: "decimal", size: "6", required: "", autocomplete: "off" });
  const unit = el("span", { class: "unit" });
  const hold = el("input", { inputmode: "numeric", size: "4", value: "30", required: "", autocomplete: "off" });
  const start = el("input", { inputmode: "decimal", size: "6", placeholder: "at once", autocomplete: "off" });
  const name = el("input", { maxlength: "64", placeholder: "such as cell 4", autocomplete: "off" });
  const told = el("fieldset", { hidden: true }, el("legend", { text: "When it is over, tell" }));
  const button = el("button", { type: "submit", class: "main", text: "Start the test" });
  const form = el("form", { class: "test", onsubmit: begin },
    field("what", "It is over when", what), field("limit", "Limit", limit), unit,
    field("hold", "for so many seconds", hold), field("start", "Begin when more than so many mA flow", start),
    field("name", "Name", name), told, button);
  const element = el("details", { class: "test", hidden: true, ontoggle: () => { if (element.open) showTargets(); } },
    el("summary", { text: "Battery test" }),
    el("p", { class: "hint", text: "How much a battery takes or gives until a limit. The limit counts once the value was on its other side." }), form);
  choose();

  function choose() {
    const [, , sign, usual] = CUTOFFS[Number(what.value)];
    unit.textContent = sign;
    limit.value = usual;
  }

  /** Where nobody can be told, the test is shown here all the same. */
  function showTargets() {
    told.hidden = targets().length === 0;
    told.replaceChildren(el("legend", { text: "When it is over, tell" }),
      ...targets().map((target) => el("label", {}, el("input", { type: "checkbox", value: target.name }), ` ${target.name}`)));
  }

  async function begin(event) {
    event.preventDefault();
    const [, condition, sign] = CUTOFFS[Number(what.value)];
    const body = { name: name.value.trim() || null, until: `${condition} ${limit.value.trim()}${sign} for ${hold.value.trim()}s` };
    if (start.value.trim()) body.start_above = `${start.value.trim()}mA`;
    const notify = [...told.querySelectorAll("input:checked")].map((box) => box.value);
    if (notify.length > 0) body.notify = notify;
    button.disabled = true;
    try {
      const test = await call("POST", meterPath(id, "/recording"), body);
      say(test.state === "waiting" ? "The test waits for its current" : "The test goes on");
      element.open = false;
      name.value = "";
      begun();
    } catch (error) {
      say(error.words, true);
    } finally {
      button.disabled = false;
    }
  }

  return { element, show(isPossible) { setAttribute(element, "hidden", !isPossible); } };
}

/** How a battery test stands, or what came of it. */
export function testWords({ test, state, end, gap_count: gaps }) {
  if (state === "waiting") return `battery test, waits for ${number(test.start_above_A, 3)} A; until ${test.until}`;
  if (state === "running") return `battery test until ${test.until}${test.armed ? "" : ", which counts once the value was on the other side"}`;
  const missing = gaps > 0 ? "; what flowed in its gaps is not in it" : "";
  if (end === "gap") return `battery test: the meter was not heard any more before ${test.until}${missing}`;
  if (end !== "cutoff") return `battery test: stopped by hand before ${test.until}`;
  const [, , unit, digits] = QUANTITIES.find(([key]) => key === test.quantity) ?? ["", "", "", 3];
  return `battery test: ${test.until} was reached, with ${number(test.value, digits)} ${unit}${missing}`;
}
