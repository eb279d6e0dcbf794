// What a chart can show: how each quantity is called, coloured and scaled.
import { QUANTITIES } from "./words.js";

// Colour, and the letter at the end of a curve.
const LOOKS = {
  voltage_V: ["--c-voltage", "V"], current_A: ["--c-current", "A"], power_W: ["--c-power", "W"], temperature_C: ["--c-temperature", "°C"],
  energy_Wh: ["--c-energy", "Wh"], charge_mAh: ["--c-other", "mAh"], counted_energy_Wh: ["--c-energy", "Wh"], counted_charge_mAh: ["--c-other", "mAh"],
  dp_V: ["--c-dp", "D+"], dn_V: ["--c-dn", "D−"], ratio: ["--c-other", "ratio"],
};

/** Key of a reading, word, unit, decimals, colour and letter of each, in the order in which they are offered. */
export const CURVES = Object.entries(LOOKS).map(([key, [colour, letter]]) => {
  const [, word, unit, digits] = QUANTITIES.find(([one]) => one === key);
  return { key, word, unit, digits, colour, letter };
});

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
  [/^PPK2$/, { A: 0.000001 }],
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
