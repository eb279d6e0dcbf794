// What somebody has typed and not saved: it is asked about before it is left behind.
import { ask } from "./dialog.js";

const checks = new Set();

/** `check` tells whether something is unsaved; returns what ends the watch. */
export function watchUnsaved(check) {
  checks.add(check);
  return () => checks.delete(check);
}

const isUnsaved = () => [...checks].some((check) => check());

addEventListener("beforeunload", (event) => { if (isUnsaved()) event.preventDefault(); });

let asked = null;

/** Whether the view may be left. Asks once, however often somebody tries meanwhile. */
export async function mayLeave() {
  if (!isUnsaved()) return true;
  asked ??= ask({
    title: "Leave without saving?", text: "A setting was changed here and not saved.", yes: "Leave", no: "Stay", isDangerous: true,
  }).finally(() => { asked = null; });
  return asked;
}
