// What a meter can be told, as buttons. What cannot be undone, or switches a load, is asked about first.
import { call, meterPath } from "./api.js";
import { ask } from "./dialog.js";
import { el, say } from "./dom.js";
import { state } from "./live.js";
import { nameOf } from "./words.js";

/** What each command is called, and what there is to say before one that destroys or switches. */
const WORDS = {
  "previous-screen": { word: "Previous screen" },
  "next-screen": { word: "Next screen" },
  "rotate": { word: "Rotate the screen" },
  "select-group": { word: "Select group", number: "Group" },
  "next-group": { word: "Next group" },
  "clear-group": { word: "Clear the group", warning: "The energy and charge of the selected group are gone for good." },
  "setup": { word: "Setup key" },
  "plus": { word: "Plus key" },
  "minus": { word: "Minus key" },
  "enter": { word: "Enter key", warning: "On a load this key switches the current on or off, and nothing here shows which." },
  "load-on": { word: "Load on", warning: "The load draws its set current from whatever is connected to it, until you, its cut-off or its timer ends that." },
  "load-off": { word: "Load off" },
  "load-current": { word: "Set the current", number: "Current in mA, in tens", warning: "A load that is on draws the new current at once." },
  "load-cutoff": { word: "Set the cut-off", number: "Cut-off voltage in mV, in tens", warning: "Below it the load switches itself off; a battery that is drained too far is spoiled." },
  "load-timer": { word: "Set the timer", number: "Minutes; 0 for none", warning: "The load switches itself off after so long; without a timer only its cut-off does." },
  "source-voltage": { word: "Supply a voltage", number: "Voltage in mV", warning: "The device that is connected gets the voltage that you enter next, at once. Too much destroys it." },
  "source-off": { word: "Supply off" },
  "price": { word: "Set the price", number: "Price of a kWh in hundredths" },
  "clear-energy": { word: "Clear energy", warning: "The meter’s energy is gone for good." },
  "clear-charge": { word: "Clear charge", warning: "The meter’s charge is gone for good." },
  "clear-time": { word: "Clear time", warning: "The meter’s time is gone for good." },
  "reset-energy": { word: "Reset energy and charge", warning: "What meterd has counted for this meter is gone for good." },
  "clear-all": { word: "Clear all", warning: "Everything that the meter has counted is gone for good." },
};

const CONSEQUENCES = {
  destroys: "What it takes away is gone for good.", switches: "It may switch a current on or off.",
  draws: "More current may be drawn from what is connected.", supplies: "It puts a voltage on what is connected.",
};

/** A command of the API with its words. One without words of its own is called as the API calls it. */
function described(command) {
  const words = WORDS[command.command] ?? {};
  return {
    ...command, word: words.word ?? command.command, number: words.number ?? "Number",
    warning: command.consequence ? words.warning ?? CONSEQUENCES[command.consequence] ?? "It cannot be undone." : null,
  };
}

export function commandsPanel(id) {
  const buttons = el("div", { class: "buttons" });
  const element = el("section", { class: "panel commands", "aria-label": "Commands", hidden: true }, el("h2", { text: "Commands" }), buttons);
  let known = [];
  let asked = null;

  function update(meter) {
    // What a meter takes depends on its model alone, and on who holds it not at all; settings have their own controls.
    if (meter.model && asked !== meter.model) load(meter.model);
    const isElse = ["elsewhere", "waiting", "expired"].includes(meter.lease?.state);
    element.hidden = known.length === 0 || !state.session.may_change || (isElse && Boolean(meter.lease.read_only));
  }

  async function load(model) {
    asked = model;
    try {
      const answer = await call("GET", meterPath(id, "/commands"));
      known = answer.commands.filter((command) => !command.setting).map(described);
    } catch {
      // Asked again with the next news of the meter.
      asked = null;
      return;
    }
    buttons.replaceChildren(...known.map((command) => el("button", {
      type: "button", class: command.warning ? "risky" : null, text: command.warning ? `${command.word} …` : command.word,
      onclick: (event) => give(command, event.currentTarget),
    })));
    const meter = state.meters.get(id);
    if (meter) update(meter);
  }

  async function give(command, button) {
    const { word, warning, least, greatest } = command;
    const name = nameOf(state.meters.get(id) ?? { id });
    const title = `${word}: ${name}`;
    let number = null;
    if (warning && !await ask({ title: `${title}?`, text: warning, yes: word, isDangerous: true })) return;
    if (least !== null) {
      const text = await ask({ title, text: `${least} to ${greatest}`, yes: "Send", field: { label: command.number, value: "", maxlength: "6" } });
      if (text === null) return;
      if (!/^\d+$/.test(text)) return say(`${command.number}: a whole number from ${least} to ${greatest}`, true);
      number = Number(text);
    }
    button.disabled = true;
    try {
      await call("POST", meterPath(id, "/commands"), number === null ? { command: command.command } : { command: command.command, number });
      say(`${name}: ${command.command} sent`);
    } catch (error) {
      say(error.words, true);
    } finally {
      button.disabled = false;
    }
  }
  return { element, update };
}
