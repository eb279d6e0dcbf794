// What is raised, where people look: at the top of every view, and at its meter.
import { listenAlerts, raisedRules, ruleName } from "./alerts.js";
import { el, setAttribute, setText } from "./dom.js";
import { state } from "./live.js";
import { moment, nameOf } from "./words.js";

/** So many are named at the top; the rest is counted. */
const NAMED_MAX = 3;

/** What the meter of a rule is called; this host may never have met it. */
export const meterName = (rule) => {
  const meter = state.meters.get(rule.meter);
  return meter ? nameOf(meter) : rule.meter_name ?? rule.meter;
};

/** One line above all views while anything is raised. */
export function alertBanner() {
  const element = el("p", { class: "raised banner", role: "status", hidden: true });

  function update() {
    const raised = state.session.login === "needed" ? [] : raisedRules();
    const parts = raised.slice(0, NAMED_MAX).map((rule) => {
      const words = `${ruleName(rule)}: ${meterName(rule)}`;
      const name = state.meters.has(rule.meter) ? el("a", { href: `#/meter/${encodeURIComponent(rule.meter)}`, text: words }) : words;
      return el("span", {}, name, ` since ${moment(rule.raised_at)}`);
    });
    if (raised.length > NAMED_MAX) parts.push(el("a", { href: "#/host", text: `and ${raised.length - NAMED_MAX} more` }));
    if (raised.length && !state.isLive) parts.push(el("span", { text: "when last heard" }));
    // Only what is new is said aloud.
    const text = parts.map((part) => part.textContent).join();
    if (element.dataset.text === text) return;
    element.dataset.text = text;
    element.replaceChildren(...parts);
    setAttribute(element, "hidden", raised.length === 0);
  }

  listenAlerts(update);
  return element;
}

/** What is raised of one meter. */
export function alertMarks(id) {
  const element = el("p", { class: "raised", hidden: true });

  function update() {
    const raised = raisedRules(id);
    setText(element, raised.map((rule) => `${ruleName(rule)} since ${moment(rule.raised_at)}`).join(" · "));
    setAttribute(element, "hidden", raised.length === 0);
  }
  return { element, update };
}
