// The settings of a meter in words: how each is called, which values it takes, and what counts without one.

const UNITS = { ms: 1, s: 1000, m: 60000, h: 3600000 };

/** "500ms" or "2m" in ms; null where it is none. */
export function lengthOf(text) {
  const found = /^(\d+(?:\.\d+)?)(ms|s|m|h)$/.exec(text ?? "");
  return found ? Number(found[1]) * UNITS[found[2]] : null;
}

const time = (label, unit, low, high, usual) => ({
  label, kind: "number", unit: { s: "s", m: "min" }[unit], low, high, usual,
  read: (text) => { const ms = lengthOf(text); return ms === null ? "" : String(ms / UNITS[unit]); }, write: (value) => `${value}${unit}`,
});
/** What the meter keeps itself: nobody knows its value until it is set here. `words` are those of single values. */
const steps = (label, unit, high, step, words = {}, note = "") => ({
  label, kind: "list", unit, usual: () => "as the meter has it", note, read: (text) => text ?? "", write: String,
  options: Array.from({ length: high / step + 1 }, (_, index) => String(index * step))
    .map((value) => [value, `${value} ${unit}${words[value] ? `, ${words[value]}` : ""}`]),
});

const isAtorch = (model) => /^Atorch/i.test(model ?? "");

const KINDS = {
  "name": () => ({ label: "Name", kind: "text", longest: 64, usual: () => "its model" }),
  "notes": () => ({ label: "Notes", kind: "lines", longest: 1000, usual: () => "none" }),
  "poll-interval": () => time("Ask every", "s", 0.01, 3600, (meter) => meter?.poll_interval_ms ? `${meter.poll_interval_ms / 1000} s` : "as the meter sends"),
  "rate": () => ({
    label: "Samples by its own clock", kind: "choice", options: [["off", "off"], ["2", "2 a second"], ["10", "10 a second"], ["50", "50 a second"], ["1000", "1000 a second"]],
    usual: () => "off", note: "at 1000, seconds are stored, and every sample while a recording goes on",
  }),
  "stale-after": () => time("Silent after", "s", 1, 3600, () => "three times “Ask every”, 3 s at least"),
  "temperature-unit": () => ({
    label: "Temperature is sent in", kind: "choice", options: [["C", "°C"], ["F", "°F"]], usual: () => "°C",
    note: "as the meter’s own menu is set",
  }),
  "filter": () => ({
    label: "Leave out impossible values", kind: "choice", options: [["on", "on"], ["off", "off"]], usual: () => "on",
    note: "single ones that contradict their neighbours",
  }),
  "screen-timeout": (model) => isAtorch(model)
    ? steps("Screen off after", "s", 60, 1, { 60: "never" })
    : steps("Screen off after", "min", 9, 1, { 0: "never" }),
  "brightness": () => steps("Screen brightness", "of 5", 5, 1),
  "threshold": () => steps("Meter counts above", "mA", 300, 10, {}, "of the meter’s own recorder"),
  "record-above": () => ({
    label: "Record above", kind: "number", unit: "mA", low: 1, high: 100000, usual: () => "off",
    note: "a recording then starts by itself",
    read: (text) => text ? String(Math.round(parseFloat(text) * (/mA$/.test(text) ? 1 : 1000) * 1000) / 1000) : "",
    write: (value) => `${value}mA`,
  }),
  "record-hold": () => time("… for at least", "s", 0, 3600, () => "10 s"),
  "tariff": () => ({ label: "Price of a kWh", kind: "text", longest: 24, usual: () => "not known", note: "with its currency, such as 0.32 EUR" }),
  "record-gap": () => time("End it without readings for", "m", 1, 1440, () => "10 min"),
};

/** What is known of a setting; one that this page does not know is a plain text. */
export function kindOf(key, model) {
  return KINDS[key]?.(model) ?? { label: key, kind: "text", longest: 1000, usual: () => "its default" };
}

/** A stored value as it is shown. */
export function valueWords(kind, text) {
  if (text === null || text === undefined) return "";
  if (kind.options) return kind.options.find(([value]) => value === text)?.[1] ?? text;
  if (kind.kind === "number") {
    const value = kind.read(text);
    return value === "" ? text : `${value} ${kind.unit}`;
  }
  return text;
}
