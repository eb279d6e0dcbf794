// How things are called and numbers are written.

export const nameOf = (meter) => meter.name || meter.model || meter.id;

/** Quantities of a reading in the order in which they are shown: key, word, unit, digits. */
export const QUANTITIES = [
  ["voltage_V", "Voltage", "V", 3],
  ["current_A", "Current", "A", 3],
  ["power_W", "Power", "W", 3],
  ["energy_Wh", "Energy", "Wh", 3],
  ["charge_mAh", "Charge", "mAh", 0],
  ["counted_energy_Wh", "Energy, counted by meterd", "Wh", 3],
  ["counted_charge_mAh", "Charge, counted by meterd", "mAh", 0],
  ["temperature_C", "Temperature", "°C", 1],
  ["resistance_ohm", "Resistance", "Ω", 1],
  ["dp_V", "D+", "V", 2],
  ["dn_V", "D−", "V", 2],
  ["cc1_V", "CC1", "V", 2],
  ["cc2_V", "CC2", "V", 2],
  ["vdd_V", "VDD", "V", 2],
  ["frequency_Hz", "Frequency", "Hz", 1],
  ["power_factor", "Power factor", "", 2],
  ["ratio", "Ratio", "", 3],
  ["duration_s", "Running for", "s", 0],
];

export function number(value, digits) {
  return value === null || value === undefined || !Number.isFinite(value) ? "–" : value.toFixed(digits);
}

/** "1.85 EUR", "0.0016 EUR": two decimals, and as many as show two digits that count, up to a hundred-thousandth. */
export function money(amount, currency) {
  const size = Math.abs(amount);
  if (size === 0) return `0.00 ${currency}`;
  if (size < 0.00001) return `< 0.00001 ${currency}`;
  return `${amount.toFixed(size >= 0.1 ? 2 : size >= 0.01 ? 3 : size >= 0.001 ? 4 : 5)} ${currency}`;
}

/** Decimals by range, so that a value keeps its width as it moves: 9.021, 20.03, 230.1. */
export const digitsFor = (value) => Math.abs(value) < 9.9995 ? 3 : Math.abs(value) < 99.995 ? 2 : 1;

/** A value for large digits: decimals by its range. */
export const reading = (value) => number(value, digitsFor(value));

/** "5 s", "12 min", "3 h 20 min", "2 d". */
export function span(ms) {
  if (ms === null || ms === undefined) return "–";
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return minutes % 60 ? `${hours} h ${minutes % 60} min` : `${hours} h`;
  return `${Math.floor(hours / 24)} d`;
}

/** "0.4 s", "41.5 s", "3 min 20 s", "2 h 5 min". */
export function duration(ms) {
  const seconds = ms / 1000;
  if (seconds < 60) return `${seconds < 10 ? seconds.toFixed(1) : Math.round(seconds)} s`;
  const whole = Math.round(seconds);
  return whole < 3600 && whole % 60 ? `${Math.floor(whole / 60)} min ${whole % 60} s` : span(ms);
}

/** "1:54". */
export function countdown(ms) {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}

// Made once: making one takes longer than a hundred times with it.
const [CLOCK, DATE, DAY] = [{ timeStyle: "medium" }, { dateStyle: "medium", timeStyle: "short" }, { day: "numeric", month: "short" }]
  .map((parts) => new Intl.DateTimeFormat([], { ...parts, hourCycle: parts.day ? undefined : "h23" }));

const isToday = (time) => new Date().toDateString() === time.toDateString();

/** "13:40:05". */
export const clockWords = (time) => CLOCK.format(time);

/** "26 Nov", in the reader's own order. */
export const dayWords = (time) => DAY.format(time);

/** A time of the calendar, in the reader's own zone. */
export function moment(text) {
  const time = new Date(text);
  if (Number.isNaN(time.getTime())) return "–";
  return isToday(time) ? clockWords(time) : DATE.format(time);
}

/** The same to the millisecond, with the day where it is not today. */
export const preciseMoment = (time) =>
  `${isToday(time) ? "" : `${dayWords(time)} `}${clockWords(time)}.${String(time.getMilliseconds()).padStart(3, "0")}`;

const LINKED = ["connected", "ready", "communicating", "data-available"];

/**
 * Who may talk to the meter, as one sentence. `passed` is for how long meterd has confirmed it since it was said; once
 * meterd is not heard any more, nothing counts down.
 */
export function leaseWords(meter, passed, isHeard) {
  const { lease } = meter;
  if (!lease) return "";
  const left = lease.remaining_ms === null || lease.remaining_ms === undefined
    ? "" : ` · ${countdown(lease.remaining_ms - passed)} left${isHeard ? "" : " when last heard"}`;
  const line = lease.waiting?.length ? ` · waiting: ${lease.waiting.join(", ")}` : "";
  const holder = lease.holder ?? "another host";
  switch (lease.state) {
    // Without a cloud there are no leases.
    case "none": return LINKED.includes(meter.state) ? "Read by this host" : `Nobody holds it${line}`;
    case "requesting": return "Asking for the lease …";
    case "held": return `Held here${left}${line}`;
    case "jeopardy": return `Held here, and cannot be renewed${left}${line}`;
    case "lost": return "The lease could not be renewed; the link is kept";
    case "unleased":
      if (lease.holder) return `Used without a lease; ${holder} has it`;
      return `Used without a lease: ${lease.read_only ? "this host may only look" : "no cloud is reached"}`;
    case "elsewhere": return `Held by ${holder}${left}${line}`;
    case "waiting": return `Held by ${holder}, this host waits${left}${line}`;
    case "expired": return `Was held by ${holder}, which is not heard of any more`;
    default: return lease.state;
  }
}

const TRANSPORTS = { usb: "USB", ble: "Bluetooth", spp: "Bluetooth Classic", serial: "serial line" };

export const transportWord = (transport) => TRANSPORTS[transport] ?? transport;

/** Whether another host has it, so that connecting means taking it over. */
export const isElsewhere = (lease) => ["elsewhere", "waiting", "expired"].includes(lease?.state)
  || (lease?.state === "unleased" && Boolean(lease.holder));

const UNIT = /_(V|A|W|s|mAh|mWh|Wh)$/;

/** "charging_mode" as "Charging mode", "over_voltage_V" as "Over voltage". */
export function toldWord(key) {
  const words = key.replace(UNIT, "").replaceAll("_", " ").replace(/^pd /, "PD ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** What a meter tells besides readings, with the unit that its key ends in. */
export function toldValue(key, value) {
  if (value === null) return "–";
  if (typeof value === "boolean") return value ? "yes" : "no";
  const unit = UNIT.exec(key)?.[1];
  return unit && typeof value === "number" ? `${value} ${unit}` : String(value);
}
