// How a chart is moved: mouse, wheel, touch and keyboard, all ending in the same few calls.

const [DRAG_MIN, DOUBLE_MS] = [5, 350];

/**
 * `chart` has: at(px), the value of the x-axis under a place; view(), [from, to]; isSelecting(). It is told: `show(from,
 * to)`, `home()`, `point(x)` (null: nothing is pointed at), `preview(a, b)` while a stretch is dragged, `select(a, b)`
 * (null: none), `step(direction, isSelecting)` and `enter()` from the keyboard.
 */
export function attachGestures(element, chart) {
  const pointers = new Map();
  let drag = null;
  let lastTap = 0;

  const place = (event) => event.clientX - element.getBoundingClientRect().left;

  function zoom(factor, x) {
    const [from, to] = chart.view();
    const middle = x ?? (from + to) / 2;
    chart.show(middle - (middle - from) * factor, middle + (to - middle) * factor);
  }

  function pan(part) {
    const [from, to] = chart.view();
    chart.show(from + (to - from) * part, to + (to - from) * part);
  }

  element.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    pointers.set(event.pointerId, place(event));
    element.setPointerCapture(event.pointerId);
    if (pointers.size === 2) {
      const [a, b] = [...pointers.values()];
      drag = { kind: "pinch", a: chart.at(a), b: chart.at(b) };
      return;
    }
    const isTouch = event.pointerType === "touch";
    const kind = chart.isSelecting() || event.shiftKey ? "select" : isTouch || event.altKey ? "pan" : "zoom";
    drag = { kind, start: place(event), x: chart.at(place(event)), view: chart.view(), isFar: false };
  });

  element.addEventListener("pointermove", (event) => {
    const px = place(event);
    if (pointers.has(event.pointerId)) pointers.set(event.pointerId, px);
    if (!drag) return chart.point(chart.at(px));
    if (drag.kind === "pinch") return pinch();
    drag.isFar ||= Math.abs(px - drag.start) >= DRAG_MIN;
    if (!drag.isFar) return;
    if (drag.kind === "pan") {
      const shift = drag.x - chart.at(px);
      const [from, to] = chart.view();
      chart.show(from + shift, to + shift);
    } else {
      chart.preview(Math.min(drag.x, chart.at(px)), Math.max(drag.x, chart.at(px)));
    }
  });

  function pinch() {
    const [a, b] = [...pointers.values()];
    if (a === undefined || b === undefined || Math.abs(a - b) < 20) return;
    // What was under either finger stays there.
    const slope = (drag.b - drag.a) / (b - a);
    if (slope <= 0) return;
    const perPixel = chart.at(1) - chart.at(0);
    const [left, right] = chart.view().map((edge) => drag.a + ((edge - chart.at(0)) / perPixel - a) * slope);
    chart.show(left, right);
  }

  function end(event, isDone) {
    const px = place(event);
    pointers.delete(event.pointerId);
    const done = drag;
    if (pointers.size === 0) drag = null;
    if (!done || done.kind === "pinch") return;
    chart.preview(null);
    if (!isDone) return;
    if (done.isFar) {
      const [a, b] = [Math.min(done.x, chart.at(px)), Math.max(done.x, chart.at(px))];
      if (done.kind === "zoom") chart.show(a, b);
      if (done.kind === "select") chart.select(a, b);
      return;
    }
    chart.point(chart.at(px));
    const now = performance.now();
    if (now - lastTap < DOUBLE_MS) {
      chart.home();
      lastTap = 0;
    } else {
      lastTap = now;
    }
  }
  element.addEventListener("pointerup", (event) => end(event, true));
  element.addEventListener("pointercancel", (event) => end(event, false));
  element.addEventListener("pointerleave", (event) => { if (event.pointerType === "mouse" && !drag) chart.point(null); });

  // Over a chart that was not clicked, the wheel scrolls the page as everywhere.
  element.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && document.activeElement !== element) return;
    event.preventDefault();
    const isSideways = event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY);
    if (isSideways) pan((event.deltaX || event.deltaY) / element.clientWidth);
    else zoom(Math.exp(event.deltaY * 0.002), chart.at(place(event)));
  }, { passive: false });

  element.addEventListener("keydown", (event) => {
    const act = {
      "ArrowLeft": () => chart.step(-1, event.shiftKey), "ArrowRight": () => chart.step(1, event.shiftKey),
      "+": () => zoom(0.5), "=": () => zoom(0.5), "-": () => zoom(2),
      "PageUp": () => pan(-0.5), "PageDown": () => pan(0.5), "Home": () => chart.home(), "0": () => chart.home(),
      "Enter": () => chart.enter(), "Escape": () => chart.select(null),
    }[event.key];
    if (!act || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    act();
  });
  return { zoom, pan };
}
