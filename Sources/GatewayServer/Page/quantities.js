// What a chart can show: how each quantity is called, coloured and scaled.

/** Key of a reading, word, unit, decimals, colour, and the letter at the end of its curve. */
export const CURVES = [
  { key: "voltage_V", word: "Voltage", unit: "V", digits: 3, colour: "--c-voltage", letter: "V" },
  { key: "current_A", word: "Current", unit: "A", digits: 3, colour: "--c-current", letter: "A" },
  { key: "power_W", word: "Power", unit: "W", digits: 3, colour: "--c-power", letter: "W" },
  { key: "temperature_C", word: "Temperature", unit: "°C", digits: 1, colour: "--c-temperature", letter: "°C" },
  { key: "energy_Wh", word: "Energy", unit: "Wh", digits: 3, colour: "--c-energy", letter: "Wh" },
  { key: "charge_mAh", word: "Charge", unit: "mAh", digits: 0, colour: "--c-other", letter: "mAh" },
  { key: "dp_V", word: "D+", unit: "V", digits: 2, colour: "--c-dp", letter: "D+" },
  { key: "dn_V", word: "D−", unit: "V", digits: 2, colour: "--c-dn", letter: "D−" },
];

export const curveOf = (key) => CURVES.find((curve) => curve.key === key);
/** Those that every meter has. */
export const USUAL = ["voltage_V", "current_A", "power_W"];

// The last digit of a meter, by model. What is not listed is taken for a plain meter.
const PLAIN = { V: 0.01, A: 0.001, W: 0.01, "°C": 1, Wh: 0.001, mAh: 1 };
const FINE = [
  [/^UM25C$/, { V: 0.001, A: 0.0001, W: 0.001 }],
  [/^TC66C?$/, { V: 0.0001, A: 0.00001, W: 0.0001, "°C": 1 }],
  [/^KM00[23]C$/, { V: 0.0001, A: 0.0001, W: 0.001, "°C": 0.1 }],
  [/^(FNB|C1)/, { V: 0.0001, A: 0.0001, W: 0.001, "°C": 0.1 }],
  [/^Atorch/, { V: 0.1, A: 0.001, W: 0.1, Wh: 10, mAh: 10 }],
];

/** An axis is no less high than so many last digits, and than this part of its values: noise is no curve. */
const [STEPS_MIN, PART_MIN] = [10, 0.02];

/** The least height of an axis for a unit, at a meter of this model, with values up to `value`. */
export function roomFor(unit, model, value) {
  const fine = FINE.find(([name]) => name.test(model ?? ""))?.[1] ?? {};
  const part = Number.isFinite(value) && !["Wh", "mAh"].includes(unit) ? value * PART_MIN : 0;
  return Math.max(STEPS_MIN * (fine[unit] ?? PLAIN[unit] ?? 0.01), part);
}
