// What this host watches for and whom it tells: read as the page begins, whenever another rule is raised or over, and now and
// then, because others add and remove rules too.
import { call } from "./api.js";
import { listen, state } from "./live.js";
import { deletions } from "./undo.js";
import { moment, QUANTITIES } from "./words.js";

/** How often it is looked at anew. */
const PACE_MS = 30000;

let known = { alerts: [], targets: [] };
let isLoading = false;
let isWanted = false;
let isAsked = false;
let loadedAt = -Infinity;

const listeners = new Set();

/** Calls back whenever rules or those told may have changed; returns what ends that. */
export function listenAlerts(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** The key of a rule among what is being deleted. */
export const deletionKey = (rule) => `alert ${rule.id}`;

/** All rules, or those of one meter, without those that somebody has just removed. */
export const rulesOf = (id) => known.alerts.filter((rule) => (!id || rule.meter === id) && !deletions.has(deletionKey(rule)));

/** Those that can be told: {name, kind, waiting, delivered, lost, error}. */
export const targets = () => known.targets;

export const raisedRules = (id) => rulesOf(id).filter((rule) => rule.state === "raised");

export function tellAlerts() { for (const listener of [...listeners]) listener(); }

/** Reads them. What is asked for meanwhile is read once more afterwards. Where nobody asks, only what is new is drawn. */
export async function loadAlerts(isAskedFor = true) {
  isWanted = true;
  isAsked ||= isAskedFor;
  if (isLoading) return;
  isLoading = true;
  const before = JSON.stringify(known);
  while (isWanted) {
    isWanted = false;
    loadedAt = performance.now();
    try {
      known = await call("GET", "v1/alerts");
    } catch { /* The page says itself that meterd is not heard; what it knew stays, as old as everything else. */ }
  }
  isLoading = false;
  const isTold = isAsked || JSON.stringify(known) !== before;
  isAsked = false;
  if (isTold) tellAlerts();
}

listen((change) => {
  if (change.alerts) loadAlerts();
  else if (change.all || !state.isLive) tellAlerts();
});
// What changes about rules alone is not among the news of meters.
setInterval(() => { if (state.isLive && !document.hidden && performance.now() - loadedAt > PACE_MS) loadAlerts(false); }, 1000);

// MARK: Words

/** A rule's name, or its condition where it has none. */
export const ruleName = (rule) => rule.name ?? conditionWords(rule.condition);

/** "Current below 50 mA for 2 min" of "current < 50mA for 2m". What it does not know it leaves as it was typed. */
export function conditionWords(text) {
  const words = text
    .replace(/^stale\b/i, "no reading").replace(/^holder changes$/i, "another host has it")
    .replace(/\s*(?:<=?|≤|\bunder\b)\s*/gi, " below ").replace(/\s*(?:>=?|≥|\bover\b)\s*/gi, " above ")
    .replace(/\bfor\s*(\d+)\s*m\b/gi, "for $1 min").replace(/\bfor\s*(\d+)\s*([smh])\b/gi, "for $1 $2")
    .replace(/(\d)\s*([a-zµΩ°]+)(?=\s|\/|$)/giu, "$1 $2").replace(/\bhysteresis\b/i, "and back by");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** The value that raised it last, with its unit; empty where it watches none. */
export function valueWords(rule) {
  if (rule.value === null) return "";
  const [, , unit] = QUANTITIES.find(([key]) => key === rule.quantity) ?? [];
  const per = /\brate\b/i.test(rule.condition) ? /\/\s*(?:s|min|m|h)\b/i.exec(rule.condition)?.[0] ?? "" : "";
  return `${Number(rule.value.toPrecision(4))} ${unit ?? ""}${per}`.trim();
}

/** When it was raised last, as part of a sentence. */
export const raisedWords = (rule) => [`since ${moment(rule.raised_at)}`, valueWords(rule) ? `at ${valueWords(rule)}` : ""].filter(Boolean).join(", ");
