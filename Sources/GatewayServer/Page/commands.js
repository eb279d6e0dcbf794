// What a meter can be told, as buttons. What cannot be undone, or switches a load, is asked about first.
import { call, meterPath } from "/api.js";
import { ask } from "/dialog.js";
import { el, say } from "/dom.js";
import { state } from "/live.js";
import { nameOf } from "/words.js";

/** Command, word, and for some: its numbers [least, greatest, word], and what to ask before. */
const ALL = {
  "previous-screen": { word: "Previous screen" },
  "next-screen": { word: "Next screen" },
  "rotate": { word: "Rotate the screen" },
  "select-group": { word: "Select group", numbers: [0, 9, "Group"] },
  "next-group": { word: "Next group" },
  "clear-group": { word: "Clear the group …", warning: "The energy and charge of the selected group are gone for good." },
  "setup": { word: "Setup key" },
  "plus": { word: "Plus key" },
  "minus": { word: "Minus key" },
  "enter": { word: "Enter key …", warning: "On a load this key switches the current on or off, and nothing here shows which." },
  "price": { word: "Set the price", numbers: [0, 99999, "Price of a kWh in hundredths"] },
  "clear-energy": { word: "Clear energy …", warning: "The meter’s energy is gone for good." },
  "clear-charge": { word: "Clear charge …", warning: "The meter’s charge is gone for good." },
  "clear-time": { word: "Clear time …", warning: "The meter’s time is gone for good." },
  "clear-all": { word: "Clear all …", warning: "Everything that the meter has counted is gone for good." },
};

// The API does not tell which commands a model has. These are those of the drivers.
const MODELS = [
  [/^UM24C$|^A3-B$/, ["next-screen", "rotate", "next-group", "clear-group"]],
  [/^UM/, ["previous-screen", "next-screen", "rotate", "select-group", "clear-group"]],
  [/^TC66/, ["previous-screen", "next-screen", "rotate"]],
  [/^Atorch DC/, ["setup", "plus", "minus", "price", "clear-energy", "clear-charge", "clear-time", "clear-all"]],
  [/^Atorch AC/, ["setup", "enter", "plus", "minus", "price", "clear-energy", "clear-charge", "clear-time", "clear-all"]],
  [/^Atorch/, ["setup", "enter", "plus", "minus", "clear-energy", "clear-charge", "clear-time", "clear-all"]],
];

export function commandsPanel(id) {
  const buttons = el("div", { class: "buttons" });
  const element = el("section", { class: "panel commands", "aria-label": "Commands", hidden: true }, el("h2", { text: "Commands" }), buttons);

  function update(meter) {
    const known = MODELS.find(([name]) => name.test(meter.model ?? ""))?.[1] ?? [];
    const isElse = ["elsewhere", "waiting", "expired"].includes(meter.lease?.state);
    element.hidden = known.length === 0 || !state.session.may_change || (isElse && Boolean(meter.lease.read_only));
    const text = known.join();
    if (buttons.dataset.known === text) return;
    buttons.dataset.known = text;
    buttons.replaceChildren(...known.map((command) => el("button", {
      type: "button", class: ALL[command].warning ? "risky" : null, text: ALL[command].word, onclick: (event) => give(command, event.currentTarget),
    })));
  }

  async function give(command, button) {
    const { word, numbers, warning } = ALL[command];
    const name = nameOf(state.meters.get(id) ?? { id });
    const title = `${word.replace(" …", "")}: ${name}`;
    let number = null;
    if (warning && !await ask({ title: `${title}?`, text: warning, yes: word.replace(" …", ""), isDangerous: true })) return;
    if (numbers) {
      const text = await ask({ title, text: `${numbers[0]} to ${numbers[1]}`, yes: "Send", field: { label: numbers[2], value: "", maxlength: "5" } });
      if (text === null) return;
      if (!/^\d+$/.test(text)) return say(`${numbers[2]}: a whole number from ${numbers[0]} to ${numbers[1]}`, true);
      number = Number(text);
    }
    button.disabled = true;
    try {
      await call("POST", meterPath(id, "/commands"), number === null ? { command } : { command, number });
      say(`${name}: ${command} sent`);
    } catch (error) {
      say(error.words, true);
    } finally {
      button.disabled = false;
    }
  }
  return { element, update };
}
