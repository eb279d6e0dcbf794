// A chart on the page: it draws itself, has a crosshair with a read-out, and tells what somebody does with it.
import { el, visible } from "/dom.js";
import { draw, drawPointer } from "/draw.js";
import { attachGestures } from "/gestures.js";
import { nearest } from "/series.js";
import { CanvasSurface } from "/surface.js";

const NAMES = ["ink", "soft", "grid", "panel", "select", "select-edge"];

/** The page's colours as they are now, for curves too. */
export function look() {
  const style = getComputedStyle(document.documentElement);
  const known = new Map();
  const read = (name) => {
    if (!known.has(name)) known.set(name, style.getPropertyValue(name).trim());
    return known.get(name);
  };
  const [ink, soft, grid, panel, select, selectEdge] = NAMES.map((name) => read(`--${name}`));
  return { ink, soft, grid, panel, select, selectEdge, read };
}

/**
 * `options`: label; words(x, points, isNarrow), the read-out as {title, lines: [{text, colour}], note}; show(from, to); home();
 * select(a, b) or select(null). `set` takes the parts of a picture (see draw.js), whose colours are names of the page's.
 */
export function makePlot(options) {
  const canvas = el("canvas", { "aria-hidden": "true" });
  // The pointer moves on a layer of its own, so that the curves are not drawn anew at each of its steps.
  const layer = el("canvas", { "aria-hidden": "true" });
  const tip = el("div", { class: "tip", hidden: true, "aria-hidden": "true" });
  const heard = el("p", { class: "hear", role: "status" });
  const element = el("div", {
    class: "plot", tabindex: "0", role: "application", "aria-roledescription": "chart", "aria-label": options.label,
  }, canvas, layer, tip, heard);
  const picture = { curves: [], from: 0, to: 1, marks: () => [], room: () => 1, fit: "data", gaps: [], select: null };
  let plan = null;
  let isSelecting = false;
  let preview = null;
  let cursor = null;
  let frame = 0;
  let isOver = false;

  /** The colours of the theme, read once. */
  let colours = look();
  let drawn = null;
  let isStale = true;

  function render() {
    frame = 0;
    const [width, height] = [element.clientWidth, element.clientHeight];
    if (isOver || width === 0 || height === 0) return;
    const scale = Math.min(3, devicePixelRatio || 1);
    if (isStale || drawn?.width !== width || drawn?.height !== height) {
      isStale = false;
      drawn = fullPicture(width, height);
      plan = draw(surfaceOf(canvas, width, height, scale), drawn);
    }
    const marked = cursor === null ? [] : pointsAt(drawn.curves, cursor);
    drawPointer(surfaceOf(layer, width, height, scale), drawn, plan, { preview, cursor, marked });
    drawTip(drawn, marked);
  }

  function surfaceOf(on, width, height, scale) {
    if (on.width !== Math.round(width * scale) || on.height !== Math.round(height * scale)) {
      on.width = Math.round(width * scale);
      on.height = Math.round(height * scale);
    }
    return new CanvasSurface(on.getContext("2d"), width, height, scale);
  }

  function fullPicture(width, height) {
    const curves = picture.curves.map((curve) => ({ ...curve, colour: colours.read(curve.colour) }));
    return { ...picture, curves, width, height, look: colours };
  }

  function pointsAt(curves, x) {
    const reach = (picture.to - picture.from) / 40;
    return curves.map((curve) => ({ curve, index: nearest(curve.t, x) }))
      .filter(({ curve, index }) => index >= 0 && curve.mean[index] !== null && Math.abs(curve.t[index] - x) < Math.max(curve.gap / 2, reach / 8));
  }

  function drawTip(full, marked) {
    tip.hidden = cursor === null;
    if (cursor === null) return;
    const { title, lines, note } = options.words(cursor, marked, full.width < 560);
    tip.replaceChildren(el("b", { text: title }), ...lines.map(({ text, colour }) => {
      const line = el("span", { text });
      line.style.setProperty("--key", colour);
      return line;
    }), note ? el("em", { text: note }) : "");
    const at = plan.x(cursor);
    const isLeft = at > plan.box.x + plan.box.width / 2;
    tip.style.left = isLeft ? "" : `${Math.round(at + 12)}px`;
    tip.style.right = isLeft ? `${Math.round(full.width - at + 12)}px` : "";
    tip.style.top = `${plan.box.y + 12}px`;
  }

  const chart = {
    at: (px) => picture.from + (px - (plan?.box.x ?? 0)) / (plan?.box.width ?? 1) * (picture.to - picture.from),
    view: () => [picture.from, picture.to],
    isSelecting: () => isSelecting,
    show: (from, to) => options.show(from, to),
    home: () => options.home(),
    point(x) {
      cursor = x === null ? null : Math.min(picture.to, Math.max(picture.from, x));
      schedule();
    },
    preview(a, b) {
      preview = a === null ? null : [a, b];
      if (preview) cursor = null;
      schedule();
    },
    select(a, b) { options.select?.(a, b); },
    step(direction, isMarking) {
      const times = picture.curves[0]?.t ?? [];
      const from = cursor ?? (direction > 0 ? picture.from : picture.to);
      let next = from + direction * (picture.to - picture.from) / 100;
      const index = nearest(times, next);
      if (index >= 0 && Math.abs(times[index] - next) < (picture.to - picture.from) / 200) next = times[index];
      chart.point(next);
      if (isMarking) {
        const [a, b] = picture.select ?? [from, from];
        // The end that the cursor stands on moves.
        if (Math.abs(from - b) <= Math.abs(from - a)) options.select?.(Math.min(a, cursor), Math.max(a, cursor));
        else options.select?.(Math.min(b, cursor), Math.max(b, cursor));
      }
      const { title, lines, note } = options.words(cursor, pointsAt(picture.curves, cursor));
      heard.textContent = visible([title, ...lines.map((line) => line.text), note].filter(Boolean).join(", "));
    },
    enter() { if (picture.select) options.show(...picture.select); },
  };
  const gestures = attachGestures(element, chart);

  function schedule() { if (!frame && !isOver) frame = requestAnimationFrame(render); }

  function recolour() {
    colours = look();
    isStale = true;
    schedule();
  }

  const sized = new ResizeObserver(schedule);
  sized.observe(element);
  document.addEventListener("theme-changed", recolour);

  return {
    element, zoom: gestures.zoom, pan: gestures.pan,
    set(parts) {
      Object.assign(picture, parts);
      isStale = true;
      schedule();
    },
    setSelecting(value) { isSelecting = value; },
    /** The same picture at another size, to be saved. */
    picture: fullPicture,
    close() {
      isOver = true;
      cancelAnimationFrame(frame);
      sized.disconnect();
      document.removeEventListener("theme-changed", recolour);
    },
  };
}
