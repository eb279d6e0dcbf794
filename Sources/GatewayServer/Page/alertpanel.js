// What somebody wants to be told of: the rules of one meter or of all, how they stand, whom they tell, and a form for another.
import { conditionWords, deletionKey, listenAlerts, loadAlerts, raisedWords, ruleName, rulesOf, targets, tellAlerts, valueWords } from "./alerts.js";
import { meterName } from "./alertmarks.js";
import { call } from "./api.js";
import { el, say, setAttribute, setText, table } from "./dom.js";
import { standing } from "./freshness.js";
import { state } from "./live.js";
import { deletions } from "./undo.js";
import { isElsewhere, moment } from "./words.js";

const KINDS = { webhook: "webhook", ntfy: "ntfy", gotify: "Gotify", exec: "program" };
const pathOf = (rule, rest = "") => `v1/alerts/${rule.id}${rest}`;

/** Those of one meter with a form for another, or, without an id, those of all with who can be told. */
export function alertPanel(id) {
  const list = el("ul");
  const nothing = el("p", { class: "empty" });
  const form = id ? alertForm(id) : null;
  const told = el("div");
  const element = el("section", { class: "panel alerts", "aria-label": "Alerts" },
    el("h2", { text: "Alerts" }), list, nothing, form?.element ?? told);
  const items = new Map();

  function update() {
    const rules = rulesOf(id);
    for (const [key, item] of items) {
      if (rules.some((rule) => rule.id === key)) continue;
      item.element.remove();
      items.delete(key);
    }
    for (const rule of rules) {
      if (!items.has(rule.id)) {
        items.set(rule.id, alertItem(Boolean(id)));
        list.append(items.get(rule.id).element);
      }
      items.get(rule.id).update(rule);
    }
    setText(nothing, id ? "Nothing is watched for at this meter yet." : "Nothing is watched for yet: each meter’s own page adds an alert.");
    nothing.hidden = rules.length > 0;
    if (form) form.update(); else drawTargets();
  }

  /** Those that can be told, and what became of their notices since meterd started. */
  function drawTargets() {
    const text = JSON.stringify(targets());
    if (told.dataset.text === text) return;
    told.dataset.text = text;
    told.replaceChildren(table("Who can be told", ["Who", "How", "Waiting", "Delivered", "Lost", "Last attempt"],
      targets().map(({ name, kind, waiting, delivered, lost, error }) =>
        [name, KINDS[kind] ?? kind, waiting, delivered, lost, error ?? (delivered ? "delivered" : "–")]),
      "Nobody can be told: meterd.toml has no [notify.NAME]."));
  }

  update();
  const end = listenAlerts(update);
  // A meter falls silent without news.
  const ticking = setInterval(() => { for (const rule of rulesOf(id)) items.get(rule.id)?.update(rule); }, 1000);
  return { element, close() { end(); clearInterval(ticking); } };
}

// MARK: One rule

/** `isOfOne`: its meter need not be named. */
function alertItem(isOfOne) {
  const title = el("h3");
  const condition = el("p", { class: "hint" });
  const how = el("p");
  const told = el("p", { class: "hint" });
  const trouble = el("p", { class: "error" });
  const result = el("p", { class: "hint", role: "status", hidden: true });
  const test = el("button", { type: "button", class: "quiet", text: "Test", onclick: tryIt });
  const remove = el("button", { type: "button", class: "quiet", text: "Remove", onclick: erase });
  const buttons = el("span", { class: "buttons" }, test, remove);
  const element = el("li", { class: "alert" }, el("div", {}, title, condition), el("div", {}, how, told, trouble, result), buttons);
  let one;

  async function tryIt() {
    test.disabled = true;
    result.hidden = false;
    setText(result, "Telling …");
    try {
      const { results } = await call("POST", pathOf(one, "/test"));
      const words = ({ target, delivered, error }) => `${target} ${delivered ? "was told" : `was not told: ${error}`}`;
      setText(result, `Test: ${results.map(words).join("; ")}`);
    } catch (error) {
      setText(result, error.words);
    } finally {
      test.disabled = false;
      loadAlerts();
    }
  }

  function erase() {
    deletions.begin(deletionKey(one), `${ruleName(one)}: removed`, pathOf(one), loadAlerts);
    tellAlerts();
  }

  function update(rule) {
    one = rule;
    const name = ruleName(rule);
    setAttribute(element, "data-state", rule.state);
    setText(title, name);
    setText(condition, [rule.name ? conditionWords(rule.condition) : null, isOfOne ? null : meterName(rule)].filter(Boolean).join(" · "));
    condition.hidden = condition.textContent === "";
    setAttribute(title, "title", rule.condition);
    setText(how, standingWords(rule));
    setText(told, toldWords(rule));
    const bad = troubleWords(rule);
    setText(trouble, bad);
    trouble.hidden = bad === "";
    setAttribute(buttons, "hidden", !state.session.may_change);
    setAttribute(test, "hidden", rule.notify.length === 0);
    setAttribute(test, "aria-label", `Test ${name}`);
    setAttribute(remove, "aria-label", `Remove ${name}`);
  }
  return { element, update };
}

/** How a rule stands: "Raised since 13:40:05, at 5.1 V", "Quiet, raised 3 times, last 12:00:01 to 12:04:10". */
function standingWords(rule) {
  const words = [];
  if (rule.state === "raised") {
    words.push(`Raised ${raisedWords(rule)}`, rule.count > 1 ? `${rule.count} times so far` : "");
  } else if (rule.state === "broken") {
    words.push("Broken: this meterd cannot read the condition. Remove it and add it again");
  } else if (rule.state === "momentary") {
    words.push(rule.count ? `Happened last ${moment(rule.raised_at)}` : "Has not happened");
    if (rule.count > 1) words.push(`${rule.count} times so far`);
  } else {
    words.push("Quiet");
    if (rule.count) {
      const value = valueWords(rule) ? ` at ${valueWords(rule)}` : "";
      const times = rule.count === 1 ? "once" : `${rule.count} times, last`;
      words.push(`raised ${times}${value}, ${moment(rule.raised_at)} to ${moment(rule.cleared_at)}`);
    }
  }
  words.push(blindWords(rule));
  return words.filter(Boolean).join(" · ");
}

/** Why nobody can say now whether a value is beyond its limit; empty where it is watched. */
function blindWords(rule) {
  if (!state.isLive) return "as last heard";
  if (rule.quantity === null) return "";
  const meter = state.meters.get(rule.meter);
  if (!meter) return "not watched: the meter is not here";
  if (meter.measured_by || isElsewhere(meter.lease)) {
    return `not watched while ${meter.measured_by ?? meter.lease?.holder ?? "another host"} has the meter`;
  }
  return standing(meter).isLive ? "" : "not watched: no reading comes";
}

function toldWords(rule) {
  return rule.notify.length ? `Tells ${rule.notify.join(", ")}` : "Tells nobody: it is shown here, and at the broker";
}

/** What is wrong with those that it tells. */
function troubleWords(rule) {
  return rule.notify.map((name) => {
    const target = targets().find((one) => one.name === name);
    if (!target) return `${name}: meterd.toml has no [notify.${name}] any more`;
    const words = [
      target.waiting ? `${target.waiting === 1 ? "a notice waits" : `${target.waiting} notices wait`}` : "",
      target.error ? `the last attempt failed: ${target.error}` : "",
      target.lost ? `${target.lost} lost since meterd started` : "",
    ].filter(Boolean);
    return words.length ? `${name}: ${words.join("; ")}` : "";
  }).filter(Boolean).join(" · ");
}

// MARK: Another rule

/** What people ask for most: name and condition. */
function presets(meter) {
  const reading = meter?.reading ?? {};
  const volts = reading.voltage_V > 1 ? (reading.voltage_V * 0.9).toFixed(1) : "4.5";
  return [
    ["charged", "current < 50mA for 2m"],
    ["voltage low", `voltage < ${volts}V for 10s`],
    "temperature_C" in reading ? ["too warm", "temperature > 50°C for 30s"] : null,
    ["silent", "stale for 1m"],
    ["out of reach", "state is offline for 5m"],
    // Without a cloud nobody hears of other hosts.
    state.sync ? ["taken over", "holder changes"] : null,
  ].filter(Boolean);
}

const code = (text) => el("code", { text });

function alertForm(id) {
  const condition = el("input", {
    id: "alert-condition", maxlength: "200", autocomplete: "off", autocapitalize: "none", spellcheck: "false", required: true,
    placeholder: "current < 50mA for 2m", "aria-describedby": "alert-problem alert-help",
  });
  const name = el("input", { id: "alert-name", maxlength: "64", autocomplete: "off", placeholder: "such as charged" });
  const problem = el("p", { id: "alert-problem", class: "error", role: "alert", hidden: true });
  const help = el("p", { id: "alert-help", class: "hint" },
    "A quantity, ", code("<"), " or ", code(">"), ", and a limit; ", code("for 2m"), ": only once that has lasted. Also ",
    code("temperature rate > 2°C/min"), ", ", code("power > 10W hysteresis 1W"), ".");
  const examples = el("div", { class: "buttons examples", role: "group", "aria-label": "Examples" });
  const whom = el("div", { class: "whom", role: "group", "aria-label": "Whom it tells" });
  const add = el("button", { type: "submit", class: "main", text: "Add" });
  const form = el("form", { onsubmit: send }, examples,
    el("div", { class: "fields" },
      el("div", { class: "field wide" }, el("label", { for: "alert-condition", text: "Condition" }), condition),
      el("div", { class: "field" }, el("label", { for: "alert-name", text: "Name" }), name)),
    problem, help, whom, el("div", { class: "buttons" }, add));
  const element = el("details", { hidden: true }, el("summary", { text: "Add an alert" }), form);
  let offered = "";
  let tellable = "";
  condition.addEventListener("input", () => { problem.hidden = true; });

  function fill([word, text]) {
    condition.value = text;
    name.value = rulesOf().some((rule) => rule.name === word) ? "" : word;
    problem.hidden = true;
    condition.focus();
  }

  async function send(event) {
    event.preventDefault();
    add.disabled = true;
    try {
      const notify = [...whom.querySelectorAll("input:checked")].map((box) => box.value);
      const { verdict } = await call("POST", "v1/alerts", { meter: id, condition: condition.value.trim(), name: name.value.trim() || null, notify });
      [condition.value, name.value] = ["", ""];
      problem.hidden = true;
      say(`Added: ${verdict}`);
      await loadAlerts();
    } catch (error) {
      setText(problem, error.words);
      problem.hidden = false;
      condition.focus();
    } finally {
      add.disabled = false;
    }
  }

  function update() {
    setAttribute(element, "hidden", !state.session.may_change);
    const some = presets(state.meters.get(id));
    // What somebody is about to press stays where it is.
    const kinds = some.map(([word]) => word).join();
    if (kinds !== offered) {
      offered = kinds;
      examples.replaceChildren(el("span", { class: "hint", text: "Such as" }), ...some.map(([word]) => el("button", {
        type: "button", class: "quiet", text: word, onclick: () => fill(presets(state.meters.get(id)).find(([one]) => one === word)),
      })));
    }
    const those = JSON.stringify(targets().map(({ name, kind }) => [name, kind]));
    if (those !== tellable) {
      tellable = those;
      whom.replaceChildren(...(targets().length === 0
        ? [el("p", { class: "hint" }, "It is shown here, and at the broker. To be told on a phone or by a program, add a ",
          el("code", { text: "[notify.NAME]" }), " to meterd.toml.")]
        : [el("span", { class: "hint", text: "Tells" }), ...targets().map(({ name, kind }) =>
          el("label", {}, el("input", { type: "checkbox", value: name }), `${name} (${KINDS[kind] ?? kind})`))]));
    }
  }
  return { element, update };
}
