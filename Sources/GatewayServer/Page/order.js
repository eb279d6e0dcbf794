// In which order the cards lie: as somebody has put them, by pointer or by keyboard, and new ones at the end.
import { el, say } from "./dom.js";
import { remember, remembered } from "./storage.js";

const KEY = "order";

function load() {
  try {
    const ids = JSON.parse(remembered(KEY) ?? "[]");
    return Array.isArray(ids) ? ids.filter((id) => typeof id === "string") : [];
  } catch {
    return [];
  }
}

/** Puts a new card where it belongs. */
export function place(grid, element) {
  const order = load();
  const rank = (id) => {
    const known = order.indexOf(id);
    return known < 0 ? order.length : known;
  };
  const mine = element.dataset.id;
  const next = [...grid.children].find((other) =>
    rank(other.dataset.id) > rank(mine) || (rank(other.dataset.id) === rank(mine) && other.dataset.id > mine));
  grid.insertBefore(element, next ?? null);
}

function keep(grid) {
  const shown = [...grid.children].map((card) => card.dataset.id);
  // What is away for now keeps its place behind its neighbours.
  remember(KEY, JSON.stringify([...shown, ...load().filter((id) => !shown.includes(id))]));
}

/** The button that moves a card: dragged, or with the arrow keys. */
export function mover(grid) {
  const button = el("button", { type: "button", class: "icon mover", text: "⠿", title: "Drag to move, or use the arrow keys" });
  const card = () => button.closest(".card");

  button.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const cards = [...grid.children].filter((one) => !one.hidden);
    const other = cards[cards.indexOf(card()) + step];
    if (!other) return;
    if (step < 0) other.before(card()); else other.after(card());
    keep(grid);
    button.focus();
    say(`Place ${cards.indexOf(other) + 1} of ${cards.length}`);
  });

  button.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    event.preventDefault();
    button.focus();
    const moved = card();
    moved.classList.add("dragged");
    button.setPointerCapture(event.pointerId);
    const move = (now) => {
      const over = document.elementsFromPoint(now.clientX, now.clientY).map((one) => one.closest?.(".card"))
        .find((one) => one && one !== moved && one.parentElement === grid);
      if (!over) return;
      const cards = [...grid.children];
      if (cards.indexOf(over) < cards.indexOf(moved)) over.before(moved); else over.after(moved);
    };
    const end = () => {
      button.removeEventListener("pointermove", move);
      moved.classList.remove("dragged");
      keep(grid);
    };
    button.addEventListener("pointermove", move);
    button.addEventListener("lostpointercapture", end, { once: true });
  });
  return button;
}
