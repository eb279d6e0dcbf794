// A battery test: its cut-off, when it begins, what a load draws, and who is told; and how one stands, in words.
import { targets } from "./alerts.js";
import { call, meterPath } from "./api.js";
import { ask } from "./dialog.js";
import { el, say, setAttribute } from "./dom.js";
import { state } from "./live.js";
import { nameOf, number, QUANTITIES } from "./words.js";

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
  const field = (key, label, input, unit) => {
    input.id = `test-${key}`;
    return el("span", { class: "field" }, el("label", { for: input.id, text: label }), unit ? el("span", { class: "measured" }, input, unit) : input);
  };
  const what = el("select", { onchange: choose }, ...CUTOFFS.map(([word], place) => el("option", { value: String(place), text: word })));
  const limit = el("input", { inputmode: "decimal", size: "6", required: "", autocomplete: "off" });
  const unit = el("span", { class: "unit" });
  const hold = el("input", { inputmode: "numeric", size: "4", value: "30", required: "", autocomplete: "off" });
  const start = el("input", { inputmode: "decimal", size: "6", placeholder: "at once", autocomplete: "off" });
  const name = el("input", { maxlength: "64", placeholder: "such as cell 4", autocomplete: "off" });
  const drives = el("input", { type: "checkbox", onchange: showParts });
  const driving = el("label", { class: "driving", hidden: true }, drives, " The load at this meter draws it, and is switched off at the end");
  const current = el("input", { inputmode: "decimal", size: "6", value: "1.00", autocomplete: "off" });
  const cutoff = el("input", { inputmode: "decimal", size: "6", value: "3.00", autocomplete: "off" });
  const limit_h = el("input", { inputmode: "decimal", size: "4", placeholder: "no limit", autocomplete: "off" });
  const loss = el("select", {}, el("option", { value: "keep", text: "the test goes on" }), el("option", { value: "off", text: "the load is switched off" }));
  const told = el("fieldset", { hidden: true }, el("legend", { text: "When it is over, tell" }));
  const button = el("button", { type: "submit", class: "main", text: "Start the test" });
  const form = el("form", { class: "test", onsubmit: begin },
    field("what", "It is over when", what), field("limit", "Limit", limit, unit),
    field("hold", "for so many seconds", hold), field("start", "Begin when more than so many mA flow", start),
    field("current", "Draw so many A", current), field("cutoff", "The load stops below so many V", cutoff),
    field("hours", "and after so many hours", limit_h), field("loss", "Once a lost link is back,", loss),
    field("name", "Name", name), told, button);
  const [plain, ofLoad] = [[what, limit, hold, start], [current, cutoff, limit_h, loss]];
  const element = el("details", { class: "test", hidden: true, ontoggle: () => { if (element.open) { showTargets(); showLoad(); } } },
    el("summary", { text: "Battery test" }),
    el("p", { class: "hint", text: "How much a battery takes or gives until a limit. The limit counts once the value was on its other side." }), driving, form);
  choose();
  showParts();

  /** A load says whether it is on. */
  function showLoad() {
    driving.hidden = state.meters.get(id)?.told?.details?.load_on === undefined;
    if (driving.hidden) drives.checked = false;
    showParts();
  }

  function showParts() {
    for (const input of plain) input.closest(".field").hidden = drives.checked;
    for (const input of ofLoad) input.closest(".field").hidden = !drives.checked;
    for (const input of [limit, hold]) input.required = !drives.checked;
    for (const input of [current, cutoff]) input.required = drives.checked;
  }

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
    const body = { name: name.value.trim() || null, ...(drives.checked ? loadBody() : plainBody()) };
    const notify = [...told.querySelectorAll("input:checked")].map((box) => box.value);
    if (notify.length > 0) body.notify = notify;
    if (body.load && !await ask({
      title: `Switch the load on: ${nameOf(state.meters.get(id) ?? { id })}?`, yes: "Draw current", isDangerous: true,
      text: `It draws ${body.load.current} from what is connected to it, down to ${body.load.cutoff}, also while its link or meterd is down.`,
    })) return;
    button.disabled = true;
    try {
      const test = await call("POST", meterPath(id, "/recording"), body);
      if (body.load) say("The load is on");
      else say(test.state === "waiting" ? "The test waits for its current" : "The test goes on");
      element.open = false;
      name.value = "";
      begun();
    } catch (error) {
      say(error.words, true);
    } finally {
      button.disabled = false;
    }
  }

  function plainBody() {
    const [, condition, sign] = CUTOFFS[Number(what.value)];
    const body = { until: `${condition} ${limit.value.trim()}${sign} for ${hold.value.trim()}s` };
    if (start.value.trim()) body.start_above = `${start.value.trim()}mA`;
    return body;
  }

  function loadBody() {
    const load = { current: `${current.value.trim()}A`, cutoff: `${cutoff.value.trim()}V`, on_link_loss: loss.value };
    if (limit_h.value.trim()) load.limit = `${limit_h.value.trim()}h`;
    return { load };
  }

  return { element, show(isPossible) { setAttribute(element, "hidden", !isPossible); } };
}

/** How a battery test stands, or what came of it. */
export function testWords(recording) {
  const { test } = recording;
  return test.load ? `${testItself(recording)}; ${loadWords(test.load)}` : testItself(recording);
}

/** How the load of a test stands. */
function loadWords(load) {
  const words = {
    preparing: "its load is being set", drawing: `its load draws ${number(load.current_A, 2)} A down to ${number(load.cutoff_V, 2)} V`,
    away: "its load is not heard, and goes on by itself down to its own cut-off", ending: "its load is to be switched off, and may still be on",
  }[load.state] ?? "its load is off";
  return load.problem ? `${words}: ${load.problem}` : words;
}

function testItself({ test, state, end, gap_count: gaps }) {
  if (state === "waiting") return `battery test, waits for ${number(test.start_above_A, 3)} A; until ${test.until}`;
  if (state === "running") return `battery test until ${test.until}${test.armed ? "" : ", which counts once the value was on the other side"}`;
  const missing = gaps > 0 ? "; what flowed in its gaps is not in it" : "";
  if (end === "gap") return `battery test: the meter was not heard any more before ${test.until}${missing}`;
  if (end === "load") return "battery test: the load could not be switched on";
  if (end === "cutoff" && test.value === null) return `battery test: the load switched itself off before ${test.until}${missing}`;
  if (end !== "cutoff") return `battery test: stopped by hand before ${test.until}`;
  const [, , unit, digits] = QUANTITIES.find(([key]) => key === test.quantity) ?? ["", "", "", 3];
  return `battery test: ${test.until} was reached, with ${number(test.value, digits)} ${unit}${missing}`;
}
