// The login: the token goes to meterd once, in the body of a request, and is not kept here.
import { call } from "./api.js";
import { el } from "./dom.js";

export const loginView = (done) => (place) => build(place, done);

/** Whether the token crosses a network in plain text: what a proxy in front makes https of does not. */
const isPlain = () => location.protocol === "http:" && !/^(localhost|127\..*|\[::1\])$/.test(location.hostname);

function build(place, done) {
  const error = el("p", { id: "login-error", class: "error", role: "alert" });
  const token = el("input", {
    id: "token", name: "token", type: "password", autocomplete: "current-password", required: true,
    spellcheck: "false", autocapitalize: "off", "aria-describedby": "login-hint login-error",
  });
  const form = el("form", { class: "panel login", onsubmit: send },
    el("h1", { text: "Log in" }),
    el("label", { for: "token", text: "Token" }), token,
    el("p", { id: "login-hint", class: "hint" }, "It is what ", el("code", { text: "meterctl web enable" }), " printed on the host."),
    isPlain() && el("p", { class: "hint", text: "What crosses the network is not encrypted, the token included." }),
    error,
    el("button", { type: "submit", class: "main", text: "Log in" }));
  place.append(form);
  token.focus();

  async function send(event) {
    event.preventDefault();
    error.textContent = "";
    try {
      await call("POST", "v1/session", { token: token.value.trim() });
      token.value = "";
      done();
    } catch (refusal) {
      error.textContent = refusal.words;
      token.select();
    }
  }
}
