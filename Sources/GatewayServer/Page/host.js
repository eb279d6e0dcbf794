// This host: its radios, its cloud and sync, who has which meter, its store.
import { alertPanel } from "./alertpanel.js";
import { call } from "./api.js";
import { el, say, table } from "./dom.js";
import { installWords } from "./install.js";
import { listen, state } from "./live.js";
import { countdown, span } from "./words.js";

const ADAPTER_STATES = {
  searching: "Looking for meters", idle: "On, at rest", starting: "Starting", recovering: "Being brought back",
  blocked: "Switched off", failed: "Failed", forbidden: "Not allowed", gone: "Gone",
};

export function hostView(place) {
  const [adapters, cloud, leases, store] = [el("div"), el("div"), el("div"), el("div")];
  const alerts = alertPanel(null);
  place.append(el("h1", { text: "This host" }),
    section("Cloud and sync", cloud), alerts.element, section("Who has which meter", leases),
    section("Bluetooth adapters", adapters), section("Store", store),
    section("Installing this page", el("p", { class: "hint", text: installWords() })));
  let version = null;
  let isOver = false;

  function drawCloud() {
    const [membership, sync] = [state.cloud, state.sync];
    if (!membership) return;
    const rows = [["This host", membership.host_name]];
    if (!membership.joined) {
      cloud.replaceChildren(pairs(rows), el("p", { class: "hint" },
        "It belongs to no cloud, so it shares neither meters nor settings. To join one: ",
        el("code", { text: "meterctl cloud join" }), "."));
      return;
    }
    rows.push(["Zone", membership.zone ?? "–"], ["Cloud", membership.urls.join(", ")],
      ["Connection", membership.connected ? "Reached" : "Not reached"], ["Policy", membership.policy ?? "–"]);
    const mayOnlyLook = membership.role === "readOnly";
    if (mayOnlyLook) rows.push(["Rights", "This host may only look: its token is read-only"]);
    if (sync) {
      const last = sync.result;
      rows.push(["Sync", sync.halt ? `Halted: ${sync.halt}` : sync.mode],
        ["Not sent yet", sync.pending === 0 ? "Nothing" : `${sync.pending} changes${mayOnlyLook ? ", which stay here" : ""}`],
        ["Last run", last ? `${last.end}, took ${last.duration_ms < 1000 ? `${last.duration_ms} ms` : span(last.duration_ms)}` : "–"]);
      if (sync.held_back > 0) rows.push(["Waiting for room", `${sync.held_back} records${sync.full ? `: ${sync.full}` : ""}`]);
      if (sync.parked > 0) rows.push(["Set aside", `${sync.parked} records that this version does not know`]);
    }
    const error = membership.error ?? sync?.error;
    const now = el("button", { type: "button", text: "Sync now", onclick: syncNow });
    cloud.replaceChildren(...[pairs(rows), error ? el("p", { class: "error", text: error }) : null,
      state.session.may_change ? el("div", { class: "buttons" }, now) : null].filter(Boolean));
  }

  async function syncNow(event) {
    event.target.disabled = true;
    try {
      await call("POST", "v1/sync", { detach: true });
      say("Syncing");
    } catch (error) {
      say(error.words, true);
    } finally {
      event.target.disabled = false;
    }
  }

  function drawAdapters() {
    adapters.replaceChildren(table("Bluetooth adapters", ["Adapter", "State", "Links", "Heard", "What to do"],
      state.adapters.map((one) => [
        one.name ? `${one.address} (${one.name})` : one.address, ADAPTER_STATES[one.state] ?? one.state,
        `${one.links} of ${one.links_max}`, one.heard, one.error ?? "–",
      ]), "This host has no Bluetooth adapter, or uses none."));
  }

  async function drawLeases() {
    try {
      const who = await call("GET", "v1/leases");
      if (isOver) return;
      leases.replaceChildren(table("Leases", ["Meter", "Held by", "State", "Left", "Waiting"],
        who.leases.map((one) => [
          one.name ?? one.model ?? one.meter, one.mine ? "this host" : one.holder ?? "–", one.state,
          one.remaining_ms === null ? "–" : countdown(one.remaining_ms), one.waiting.join(", ") || "–",
        ]), who.joined ? "Nobody has one." : "Without a cloud there are no leases."));
    } catch (error) {
      if (!isOver) leases.replaceChildren(el("p", { class: "error", text: error.words }));
    }
  }

  function drawStore() {
    const info = state.store;
    if (!info) return;
    const rows = [["File", info.path]];
    if (version) rows.push(["meterd", `${version.version} (${version.commit}, ${version.build})`]);
    store.replaceChildren(...[pairs(rows), info.error ? el("p", { class: "error", text: info.error }) : null].filter(Boolean));
  }

  /** Holders and states of leases as the news have them: the list is asked for again when they change. */
  const leaseMarks = () => [...state.meters.values()].map((meter) =>
    `${meter.id} ${meter.lease?.state} ${meter.lease?.holder_id} ${meter.lease?.waiting}`).join();
  let marks = leaseMarks();

  drawCloud();
  drawAdapters();
  drawStore();
  drawLeases();
  call("GET", "v1/version").then((answer) => { version = answer; drawStore(); }, () => {});
  const end = listen((change) => {
    if (change.cloud || change.sync) drawCloud();
    if (change.adapters) drawAdapters();
    if (change.store) drawStore();
    if (change.refresh || leaseMarks() !== marks) {
      marks = leaseMarks();
      drawLeases();
    }
  });
  // Counts down, and sees what other hosts do with meters that this one does not know.
  const again = setInterval(drawLeases, 5000);
  return () => { isOver = true; end(); alerts.close(); clearInterval(again); };
}

export const section = (title, ...content) =>
  el("section", { class: "panel", "aria-label": title }, el("h2", { text: title }), ...content);

/** Words and what they are just now. */
export const pairs = (rows) => el("dl", {}, rows.flatMap(([word, value]) => [
  el("dt", { text: word }), el("dd", {}, value instanceof Node ? value : String(value)),
]));
