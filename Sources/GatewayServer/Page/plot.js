// A chart on the page: it draws itself, has a crosshair with a read-out, and tells what somebody does with it.
import { el, setAttribute, setText, visible } from "./dom.js";
import { draw } from "./draw.js";
import { attachGestures } from "./gestures.js";
import { nearest } from "./series.js";
import { CanvasSurface } from "./surface.js";

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
  // What follows the pointer are elements that move, so that nothing is drawn anew at each of its steps.
  const [line, band] = [el("div", { class: "line", hidden: true }), el("div", { class: "band", hidden: true })];
  const pointer = el("div", { class: "pointer", "aria-hidden": "true" }, band, line);
  const dots = [];
  const [tipTitle, tipNote] = [el("b"), el("em")];
  const tip = el("div", { class: "tip", hidden: true, "aria-hidden": "true" }, tipTitle, tipNote);
  const tipLines = [];
  const heard = el("p", { class: "hear", role: "status" });
  const element = el("div", {
    class: "plot", tabindex: "0", role: "application", "aria-roledescription": "chart", "aria-label": options.label,
  }, canvas, pointer, tip, heard);
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
  /** Of the element, as the browser tells: asking would have it lay out the page in the midst of a change. */
  let [width, height] = [0, 0];
  // Opaque, which is painted in less time.
  const context = canvas.getContext("2d", { alpha: false });

  function render() {
    frame = 0;
    if (isOver || width === 0 || height === 0) return;
    if (isStale || drawn?.width !== width || drawn?.height !== height) {
      isStale = false;
      drawn = fullPicture(width, height);
      plan = draw(surface(), drawn);
      Object.assign(pointer.style, {
        left: `${plan.box.x}px`, top: `${plan.box.y}px`, width: `${plan.box.width}px`, height: `${plan.box.height}px`,
      });
    }
    const marked = cursor === null ? [] : pointsAt(drawn.curves, cursor);
    movePointer(marked);
    moveTip(marked);
  }

  function surface() {
    // A third pixel a dot is not seen, and takes as long to paint as the other two.
    const scale = Math.min(2, devicePixelRatio || 1);
    if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(height * scale)) {
      canvas.width = Math.round(width * scale);
      canvas.height = Math.round(height * scale);
    }
    const made = new CanvasSurface(context, width, height, scale);
    // Over the last pixels too, of which the element has a part.
    made.rectangle(0, 0, width + 1, height + 1, colours.panel);
    return made;
  }

  function movePointer(marked) {
    const inside = (value) => plan.x(value) - plan.box.x;
    setAttribute(band, "hidden", !preview);
    if (preview) {
      const [left, right] = preview.map(inside);
      Object.assign(band.style, { left: `${left}px`, width: `${Math.max(1, right - left)}px` });
    }
    setAttribute(line, "hidden", cursor === null);
    if (cursor !== null) line.style.transform = `translateX(${inside(cursor).toFixed(1)}px)`;
    while (dots.length < marked.length) dots.push(pointer.appendChild(el("i")));
    for (const [index, dot] of dots.entries()) {
      setAttribute(dot, "hidden", index >= marked.length);
      if (index >= marked.length) continue;
      const { curve, index: at } = marked[index];
      dot.style.background = curve.colour;
      const y = plan.y(plan.axisOf(curve), curve.mean[at]) - plan.box.y;
      dot.style.transform = `translate(${inside(curve.t[at]).toFixed(1)}px, ${y.toFixed(1)}px)`;
    }
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

  function moveTip(marked) {
    setAttribute(tip, "hidden", cursor === null);
    if (cursor === null) return;
    const { title, lines, note } = options.words(cursor, marked, width < 560);
    setText(tipTitle, title);
    while (tipLines.length < lines.length) {
      tipLines.push(el("span"));
      tipNote.before(tipLines.at(-1));
    }
    for (const [index, one] of tipLines.entries()) {
      setAttribute(one, "hidden", index >= lines.length);
      if (index >= lines.length) continue;
      setText(one, lines[index].text);
      one.style.setProperty("--key", lines[index].colour);
    }
    setText(tipNote, note);
    const at = plan.x(cursor);
    // On the side on which there is more room.
    const isLeft = at > plan.box.x + plan.box.width / 2;
    tip.style.transform = `translate(${Math.round(isLeft ? at - 12 : at + 12)}px, ${plan.box.y + 12}px)${isLeft ? " translateX(-100%)" : ""}`;
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

  const sized = new ResizeObserver(([{ contentRect }]) => {
    [width, height] = [contentRect.width, contentRect.height];
    schedule();
  });
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
