// Gives a meter another name where its name stands.
import { call, meterPath } from "./api.js";
import { el, say, setAttribute } from "./dom.js";
import { state } from "./live.js";
import { nameOf } from "./words.js";

/** The button beside a heading, which turns the heading into a field. */
export function renameButton(id, heading, current) {
  const button = el("button", { type: "button", class: "icon", text: "✎", onclick: open });
  let form = null;

  function open() {
    const input = el("input", { "aria-label": "New name", maxlength: "64", autocomplete: "off" });
    input.value = current()?.name ?? "";
    form = el("form", { class: "rename", onsubmit: save },
      input, el("button", { type: "submit", class: "main", text: "Save" }),
      el("button", { type: "button", text: "Cancel", onclick: close }));
    form.addEventListener("keydown", (event) => { if (event.key === "Escape") close(); });
    heading.hidden = true;
    button.hidden = true;
    heading.after(form);
    input.focus();
    input.select();

    async function save(event) {
      event.preventDefault();
      try {
        await call("PATCH", meterPath(id, "/settings"), { settings: { name: input.value.trim() || null } });
        say("Renamed");
        close();
      } catch (error) {
        say(error.words, true);
      }
    }
  }

  function close() {
    form?.remove();
    form = null;
    heading.hidden = false;
    button.hidden = false;
    button.focus();
  }

  function update(meter) {
    setAttribute(button, "aria-label", `Rename ${nameOf(meter)}`);
    setAttribute(button, "title", "Rename");
    if (!form) setAttribute(button, "hidden", !state.session.may_change);
  }
  return { element: button, update, isOpen: () => form !== null };
}
