// Connect, take over, disconnect: those that make sense for a meter now.
import { call, meterPath } from "./api.js";
import { ask } from "./dialog.js";
import { el, say, setAttribute } from "./dom.js";
import { state } from "./live.js";
import { isElsewhere, nameOf } from "./words.js";

export function linkButtons(current) {
  const connect = el("button", { type: "button", text: "Connect", onclick: () => send("connect", {}) });
  const takeOver = el("button", { type: "button", text: "Take over …", onclick: takeIt });
  const disconnect = el("button", { type: "button", class: "quiet", text: "Disconnect", onclick: () => send("disconnect", undefined) });
  const element = el("div", { class: "buttons" }, connect, takeOver, disconnect);

  async function takeIt() {
    const meter = current();
    const holder = meter.lease?.holder ?? "another host";
    const isSure = await ask({
      title: `Take over ${nameOf(meter)}?`, text: `${holder} is using it, and is cut off.`, yes: "Take over", isDangerous: true,
    });
    if (isSure) send("connect", { takeover: true });
  }

  async function send(verb, body) {
    const meter = current();
    setBusy(true);
    try {
      await call("POST", meterPath(meter.id, `/${verb}`), body);
      say(verb === "connect" ? `${nameOf(meter)}: connecting` : `${nameOf(meter)}: let go`);
    } catch (error) {
      say(error.words, true);
    } finally {
      setBusy(false);
    }
  }

  function setBusy(isBusy) {
    for (const button of [connect, takeOver, disconnect]) button.disabled = isBusy;
  }

  function update(meter) {
    const name = nameOf(meter);
    const isElse = isElsewhere(meter.lease);
    setAttribute(element, "hidden", !state.session.may_change);
    setAttribute(connect, "hidden", meter.wanted || isElse);
    // A host that may only look takes nothing from others.
    setAttribute(takeOver, "hidden", !isElse || Boolean(meter.lease?.read_only));
    setAttribute(disconnect, "hidden", !meter.wanted);
    setAttribute(connect, "aria-label", `Connect ${name}`);
    setAttribute(takeOver, "aria-label", `Take over ${name}`);
    setAttribute(disconnect, "aria-label", `Disconnect ${name}`);
  }
  return { element, update };
}
