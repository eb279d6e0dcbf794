// Questions that have to be answered before something is done.
import { el } from "./dom.js";

/**
 * Asks, and answers whether to go on. With `field` ({label, value, maxlength}) it asks for a text too and answers that, or
 * null. What is dangerous has the focus on the way out.
 */
export function ask({ title, text, yes, no = "Cancel", isDangerous = false, field = null }) {
  return new Promise((resolve) => {
    const input = field && el("input", { id: "dialog-field", maxlength: field.maxlength ?? "64", autocomplete: "off", placeholder: field.placeholder });
    if (input) input.value = field.value ?? "";
    const away = el("button", { type: "button", text: no, onclick: () => dialog.close("") });
    const go = el("button", { type: "submit", class: isDangerous ? "danger" : "main", text: yes });
    const form = el("form", { method: "dialog", onsubmit: (event) => { event.preventDefault(); dialog.close("yes"); } },
      el("h2", { id: "dialog-title", text: title }),
      text ? el("p", { id: "dialog-text", text }) : null,
      input ? [el("label", { for: "dialog-field", text: field.label }), input] : null,
      el("div", { class: "buttons" }, go, away));
    const dialog = el("dialog", { "aria-labelledby": "dialog-title", "aria-describedby": text ? "dialog-text" : null,
      onclick: (event) => { if (event.target === dialog) dialog.close(""); } }, form);
    const before = document.activeElement;
    dialog.addEventListener("close", () => {
      dialog.remove();
      before?.focus?.();
      const isYes = dialog.returnValue === "yes";
      resolve(input ? (isYes ? input.value.trim() : null) : isYes);
    });
    document.body.append(dialog);
    dialog.showModal();
    (isDangerous ? away : input ?? go).focus();
    input?.select();
  });
}
