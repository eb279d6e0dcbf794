// The frame of the page: which view is shown, the theme, the login, whether news come in.
import { readAddress } from "./address.js";
import { alertBanner } from "./alertmarks.js";
import { call } from "./api.js";
import { compareView } from "./compare.js";
import { say, setText, visible } from "./dom.js";
import { efficiencyView } from "./efficiency.js";
import { linkWords } from "./freshness.js";
import { hostView } from "./host.js";
import { forgetPage, keepPage } from "./install.js";
import { listen, start, state, stop } from "./live.js";
import { loginView } from "./login.js";
import { meterView } from "./meter.js";
import { metersView } from "./meters.js";
import { recordingsView } from "./recordings.js";
import { remember, remembered } from "./storage.js";
import { mayLeave } from "./unsaved.js";

const main = document.getElementById("main");
let close = () => {};

/** The view that an address means: its name, and what makes it. */
function viewAt(hash) {
  if (state.session.login === "needed") return { name: "login", make: loginView(enter) };
  const { path, values } = readAddress(hash);
  // Links of older versions: #/meter/ID/FROM-TO.
  const [from, to] = /^\d+-\d+$/.test(path[2] ?? "") ? path[2].split("-") : [];
  if (path[0] === "meter" && path[1]) {
    return { name: "meters", make: (place) => meterView(place, path[1], from ? { from, to } : values) };
  }
  if (path[0] === "compare") return { name: "recordings", make: (place) => compareView(place, values) };
  if (path[0] === "efficiency") return { name: "recordings", make: (place) => efficiencyView(place, values) };
  if (path[0] === "recordings") return { name: "recordings", make: recordingsView };
  if (path[0] === "host") return { name: "host", make: hostView };
  return { name: "meters", make: metersView };
}

function show(isMove) {
  let view;
  try {
    view = viewAt(location.hash);
  } catch {
    view = { name: "meters", make: metersView };
  }
  close();
  main.replaceChildren();
  close = view.make(main) ?? (() => {});
  for (const link of document.querySelectorAll("header nav a")) {
    if (link.dataset.view === view.name) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  if (isMove) {
    scrollTo(0, 0);
    main.focus({ preventScroll: true });
  }
}

addEventListener("hashchange", async (event) => {
  if (await mayLeave()) show(true);
  else history.replaceState(null, "", new URL(event.oldURL).hash || "#/");
});

// MARK: Theme

const THEMES = ["system", "light", "dark"];

let theme = THEMES.includes(remembered("theme")) ? remembered("theme") : "system";

function applyTheme() {
  if (theme === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  setText(document.getElementById("theme"), `Theme: ${theme}`);
  document.dispatchEvent(new CustomEvent("theme-changed"));
}

document.getElementById("theme").addEventListener("click", () => {
  theme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length];
  remember("theme", theme);
  applyTheme();
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", applyTheme);

// MARK: Login

async function enter() {
  try {
    state.session = await call("GET", "v1/session");
  } catch (error) {
    say(error.words, true);
    const loading = document.getElementById("loading");
    if (loading) {
      setText(loading, "meterd does not answer, so there are no meters to show: this browser keeps the page, and no readings. "
        + "It goes on by itself.");
    }
    setTimeout(enter, 3000);
    return;
  }
  document.getElementById("logout").hidden = state.session.login !== "done";
  const reason = document.getElementById("read-only");
  setText(reason, state.session.reason ?? "");
  reason.hidden = !state.session.reason;
  document.getElementById("link").hidden = state.session.login === "needed";
  if (state.session.login === "needed") {
    stop();
    forgetPage();
  } else {
    start();
    keepPage();
  }
  show(false);
}

document.getElementById("logout").addEventListener("click", async () => {
  try {
    await call("DELETE", "v1/session");
  } catch (error) {
    say(error.words, true);
  }
  enter();
});

document.addEventListener("login-needed", () => {
  if (state.session.login === "needed") return;
  state.session = { login: "needed", may_change: false };
  enter();
});
// The stream was refused: perhaps the page was opened to the network meanwhile, and asks for a login now.
document.addEventListener("stream-refused", async () => {
  try {
    const session = await call("GET", "v1/session");
    if (session.login !== state.session.login) enter();
  } catch { /* Not there at all: the stream tries again. */ }
});

// MARK: News

listen((change) => {
  if (change.link) {
    const link = document.getElementById("link");
    setText(link, linkWords());
    link.className = state.isLive ? "link good" : link.textContent.startsWith("Connecting") ? "link" : "link bad";
    // Styles everything that may be old.
    document.body.classList.toggle("unheard", !state.isLive && state.heardAt !== null);
  }
  if (change.cloud) {
    const name = state.cloud?.host_name ?? "Meters";
    setText(document.getElementById("host-name"), name);
    document.title = `Meters – ${visible(name)}`;
  }
});

document.querySelector("header").append(alertBanner());
applyTheme();
enter();
