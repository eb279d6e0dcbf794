// One setting: its name, the control that takes what is legal, what counts now and who said so, and its own save button.
import { call, meterPath } from "./api.js";
import { el, setText } from "./dom.js";
import { state } from "./live.js";
import { kindOf, valueWords } from "./settingkinds.js";

/** `changed` is called with the label after a save, and with null where the settings are to be read anew. */
export function settingRow(id, key, changed) {
  const meter = () => state.meters.get(id);
  const kind = kindOf(key, meter()?.model);
  const field = `set-${key}`;
  const control = makeControl(kind, field, kind.label, () => refresh());
  const origin = el("p", { class: "origin" });
  const problem = el("p", { class: "error problem", role: "alert", hidden: true });
  const overtaken = el("div", { class: "overtaken", role: "alert", hidden: true });
  const save = el("button", { type: "submit", class: "main", text: "Save", hidden: true, "aria-label": `Save ${kind.label}` });
  const undo = el("button", { type: "button", text: "Undo", hidden: true, "aria-label": `Undo ${kind.label}`, onclick: () => { put(stored); } });
  const reset = el("button", {
    type: "button", class: "quiet", text: "Default", hidden: true, "aria-label": `${kind.label}: back to the default`,
    onclick: () => send(null),
  });
  const element = el("form", { class: "setting", "data-key": key, onsubmit: (event) => { event.preventDefault(); send(wanted()); } },
    kind.kind === "choice" ? el("span", { id: `${field}-label`, text: kind.label }) : el("label", { for: field, text: kind.label }),
    el("div", { class: "control" }, control.element, el("span", { class: "buttons" }, save, undo, reset)),
    origin, problem, overtaken);

  /** What is stored as this page knows it; null: nothing, so the default counts. */
  let stored = null;
  let author = null;
  /** What counts without it, if meterd knows that. */
  let fallback = null;
  let isBusy = false;

  const wanted = () => {
    const value = control.get();
    return value === "" ? null : kind.write ? kind.write(value) : value;
  };
  const isDirty = () => control.get() !== shownOf(stored);
  const shownOf = (text) => text === null ? "" : kind.read ? kind.read(text) : text;

  function put(text) {
    stored = text;
    control.set(shownOf(text));
    overtaken.hidden = true;
    problem.hidden = true;
    refresh();
  }

  function refresh() {
    const mayChange = state.session.may_change;
    control.enable(mayChange);
    save.hidden = !mayChange || !isDirty();
    undo.hidden = save.hidden;
    reset.hidden = !mayChange || stored === null || isDirty();
    const usual = fallback ? valueWords(kind, fallback) : kind.usual(meter());
    const value = stored === null ? usual : valueWords(kind, stored);
    control.tell(usual, fallback);
    const isLong = kind.kind === "text" || kind.kind === "lines";
    setText(origin, [stored === null ? `${value} · default` : `${isLong ? "set" : value} · ${author ?? "set"}`, kind.note].filter(Boolean).join(" · "));
  }

  /** What meterd has now. Somebody's unsaved edit stays, and what overtook it is shown beside it. */
  function update(text, by, usual) {
    const isNew = text !== stored;
    author = by;
    fallback = usual;
    if (!isNew || isBusy) return refresh();
    if (isDirty() && shownOf(text) !== control.get()) return tellOvertaken(text, by);
    put(text);
  }

  function tellOvertaken(text, by) {
    const theirs = text === null ? "its default" : valueWords(kind, text);
    overtaken.replaceChildren(
      el("p", { text: `${by ? `Meanwhile set ${by}` : "Set meanwhile"}: ${theirs}` }),
      el("div", { class: "buttons" },
        el("button", { type: "button", text: "Keep mine and save", onclick: () => { stored = text; overtaken.hidden = true; send(wanted()); } }),
        el("button", { type: "button", text: "Take theirs", onclick: () => put(text) })));
    overtaken.hidden = false;
  }

  async function send(value) {
    if (isBusy) return;
    const sent = control.get();
    isBusy = true;
    save.disabled = true;
    problem.hidden = true;
    try {
      const now = (await call("GET", meterPath(id, "/settings"))).settings[key] ?? null;
      if (shownOf(now) !== shownOf(stored)) {
        // By whom is said once the settings are read anew.
        isBusy = false;
        tellOvertaken(now, null);
        return changed(null);
      }
      await call("PATCH", meterPath(id, "/settings"), { settings: { [key]: value } });
      isBusy = false;
      stored = value;
      // Somebody may type on while it is saved.
      if (control.get() === sent) put(value);
      changed(kind.label);
    } catch (refusal) {
      setText(problem, refusal.words);
      problem.hidden = false;
    } finally {
      isBusy = false;
      save.disabled = false;
    }
  }

  put(null);
  return { element, update, isDirty };
}

/**
 * The control itself: element, get() and set(text), where "" means that nothing is set, enable(is), and tell(words, value) of the
 * default; the value is null if only the meter knows it. It shows what is in force at all times.
 */
function makeControl(kind, id, label, changed) {
  if (kind.kind === "choice") return makeChoice(kind, id, changed);
  if (kind.kind === "list") return makeList(kind, id, changed);
  const input = kind.kind === "lines"
    ? el("textarea", { id, rows: "2", maxlength: kind.longest, oninput: changed })
    : kind.kind === "number"
      ? el("input", { id, type: "number", min: kind.low, max: kind.high, step: "any", inputmode: "decimal", oninput: changed })
      : el("input", { id, type: "text", maxlength: kind.longest, autocomplete: "off", oninput: changed });
  const element = el("span", { class: "control" }, input, kind.unit ? el("span", { class: "hint", text: `${kind.unit}, ${kind.low} to ${kind.high}` }) : null);
  return {
    element, get: () => input.value, set: (text) => { input.value = text; }, enable: (is) => { input.readOnly = !is; },
    tell(words) { if (input.placeholder !== words) input.placeholder = words; },
  };
}

function makeList(kind, id, changed) {
  const usual = el("option", { value: "" });
  const select = el("select", { id, onchange: changed }, usual, kind.options.map(([value, text]) => el("option", { value, text })));
  return {
    element: el("span", { class: "control" }, select),
    get: () => select.value, enable: (is) => { select.disabled = !is; },
    set(text) {
      // Another program may have set what is between the steps.
      if (![...select.options].some(({ value }) => value === text)) select.append(el("option", { value: text, text: `${text} ${kind.unit}` }));
      select.value = text;
    },
    tell: (words) => setText(usual, words),
  };
}

function makeChoice(kind, id, changed) {
  let isSet = false;
  let usual = null;
  const inputs = kind.options.map(([value, text]) =>
    ({ value, text, input: el("input", { type: "radio", name: id, value, onchange: () => { isSet = true; changed(); } }) }));
  const element = el("span", { class: "control", role: "radiogroup", "aria-labelledby": `${id}-label` },
    inputs.map(({ input, text }) => el("label", {}, input, text)));
  const mark = (wanted) => { for (const { input, value } of inputs) input.checked = value === wanted; };
  return {
    element,
    get: () => isSet ? inputs.find(({ input }) => input.checked)?.value ?? "" : "",
    set(text) {
      isSet = text !== "";
      mark(isSet ? text : usual);
    },
    enable(is) { for (const { input } of inputs) input.disabled = !is; },
    tell(words, value) {
      usual = value;
      if (!isSet) mark(usual);
    },
  };
}
