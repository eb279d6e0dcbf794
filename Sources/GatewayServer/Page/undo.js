// Deletes something after a while in which that can be taken back. A recording is deleted on every host at once, so meterd is
// not told before.
import { el, say, visible } from "./dom.js";

const PATIENCE_MS = 8000;

const waiting = new Map();

function finish(id) {
  const one = waiting.get(id);
  if (!one) return;
  clearTimeout(one.timer);
  // `keepalive`: also where the page is being left.
  fetch(one.path, { method: "DELETE", keepalive: true }).then(async (response) => {
    if (!response.ok) say((await response.json().catch(() => ({}))).message ?? "It could not be deleted", true);
  }, () => say("meterd does not answer: it was not deleted", true)).finally(() => {
    waiting.delete(id);
    one.done();
  });
}

addEventListener("pagehide", () => { for (const id of waiting.keys()) finish(id); });

export const deletions = {
  has: (id) => waiting.has(id),
  begin(id, words, path, done) {
    waiting.set(id, { path, done, timer: setTimeout(() => finish(id), PATIENCE_MS) });
    const said = document.getElementById("said");
    const undo = el("button", { type: "button", text: "Undo", onclick: () => {
      clearTimeout(waiting.get(id)?.timer);
      waiting.delete(id);
      said.replaceChildren();
      done();
    } });
    say(words, false, PATIENCE_MS);
    said.replaceChildren(visible(words), undo);
  },
};
