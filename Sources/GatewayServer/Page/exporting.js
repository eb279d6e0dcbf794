// Files of what a chart shows: its readings as meterd has stored them, and the chart itself as a picture.
import { meterPath } from "./api.js";
import { el, say } from "./dom.js";
import { draw } from "./draw.js";
import { state } from "./live.js";
import { CanvasSurface, VectorSurface } from "./surface.js";
import { nameOf } from "./words.js";

const PICTURE = [1200, 600];
const PACES = [["", "every reading"], ["1000", "one a second"], ["10000", "one in 10 s"], ["60000", "one a minute"]];

/** A name that every file system takes. */
export const fileName = (text) => text.replace(/[^\p{L}\p{N}_-]+/gu, "-").replace(/^-+|-+$/g, "").slice(0, 80) || "meter";

export function saveBlob(blob, name) {
  const url = URL.createObjectURL(blob);
  el("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}

/** A picture (see draw.js) as a file, "svg" or "png". */
export async function savePicture(picture, name, kind) {
  const { width, height } = picture;
  if (kind === "svg") {
    const surface = new VectorSurface(width, height, picture.look.panel);
    draw(surface, picture);
    saveBlob(new Blob([surface.file], { type: "image/svg+xml" }), `${name}.svg`);
    return;
  }
  const canvas = el("canvas", { width: width * 2, height: height * 2 });
  const surface = new CanvasSurface(canvas.getContext("2d"), width, height, 2);
  surface.rectangle(0, 0, width, height, picture.look.panel);
  draw(surface, picture);
  const blob = await new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
  if (blob) saveBlob(blob, `${name}.png`); else say("The browser could not make the picture", true);
}

/** `span()`: from and to in ms; `plot()`: what is drawn; `what()`: what that is, in words. */
export function exportBar(id, span, plot, what) {
  const pace = el("select", { "aria-label": "How many readings" }, PACES.map(([value, text]) => el("option", { value, text })));
  const title = () => fileName(nameOf(state.meters.get(id) ?? { id }));
  const link = (format) => {
    const one = el("a", { class: "button", href: "#", text: format.toUpperCase(), download: true });
    // The address is made as it is asked for: what is shown moves on.
    for (const kind of ["pointerdown", "focus", "click"]) one.addEventListener(kind, () => {
      const [from, to] = span().map(Math.round);
      one.href = meterPath(id, `/export?from=${from}&to=${to}&format=${format}${pace.value ? `&every=${pace.value}` : ""}`);
      one.title = `Readings of ${what()} as ${format.toUpperCase()}`;
    });
    return one;
  };
  const picture = (kind) => el("button", {
    type: "button", text: kind.toUpperCase(), title: "The chart as a picture",
    onclick: () => savePicture(plot().picture(...PICTURE), title(), kind),
  });
  return el("div", { class: "export", role: "group", "aria-label": "Export" },
    el("span", { class: "hint", text: "Export" }), pace, link("csv"), link("json"), picture("svg"), picture("png"));
}
