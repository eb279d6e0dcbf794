// All meters that this host knows, a card each, in the order that somebody has put them.
import { raisedRules, ruleName } from "./alerts.js";
import { makeCard } from "./card.js";
import { el, setText } from "./dom.js";
import { standing } from "./freshness.js";
import { listen, state } from "./live.js";
import { mover, place } from "./order.js";
import { nameOf } from "./words.js";

/** From so many on, a filter helps. */
const MANY = 9;

export function metersView(main) {
  const cards = new Map();
  const grid = el("div", { class: "cards" });
  const filter = el("input", { id: "filter", type: "search", placeholder: "name, model, host, state", autocomplete: "off", oninput: sift });
  const count = el("span", { class: "hint", role: "status" });
  const bar = el("div", { class: "filter", hidden: true }, el("label", { for: "filter", text: "Filter" }), filter, count);
  const empty = emptyPage();
  const waiting = el("p", { class: "lede", text: "Loading …" });
  main.append(el("h1", { class: "hear", text: "Meters" }), bar, waiting, empty, grid);

  // Curves that nobody sees are not drawn.
  const watcher = new IntersectionObserver((entries) => {
    for (const entry of entries) cards.get(entry.target.dataset.id)?.see(entry.isIntersecting);
  }, { rootMargin: "200px" });

  function sift() {
    const words = filter.value.trim().toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const [id, card] of cards) {
      const meter = state.meters.get(id);
      const text = meter ? [nameOf(meter), meter.model, id, meter.lease?.holder, meter.measured_by, standing(meter).word,
        ...raisedRules(id).map(ruleName)].filter(Boolean).join(" ").toLowerCase() : "";
      card.element.hidden = !words.every((word) => text.includes(word));
      shown += card.element.hidden ? 0 : 1;
    }
    setText(count, words.length ? `${shown} of ${cards.size}` : "");
  }

  function update(change) {
    for (const [id, card] of cards) {
      if (state.meters.has(id)) continue;
      watcher.unobserve(card.element);
      card.element.remove();
      cards.delete(id);
    }
    for (const id of change.all ? state.meters.keys() : change.meters ?? []) {
      let card = cards.get(id);
      if (!card) {
        card = makeCard(id, mover(grid));
        cards.set(id, card);
        place(grid, card.element);
        watcher.observe(card.element);
      }
      card.update(state.meters.get(id));
    }
    waiting.hidden = cards.size > 0 || state.heardAt !== null;
    empty.hidden = cards.size > 0 || !state.isLive;
    bar.hidden = cards.size < MANY;
    grid.classList.toggle("many", cards.size >= MANY);
    if (bar.hidden) filter.value = "";
    sift();
    if (change.link) tick();
  }

  function tick() { for (const card of cards.values()) card.tick(); }

  update({ all: true });
  const end = listen(update);
  const ticking = setInterval(tick, 500);
  return () => { end(); clearInterval(ticking); watcher.disconnect(); };
}

function emptyPage() {
  return el("section", { class: "panel empty-page", hidden: true, "aria-label": "How to begin" },
    el("h2", { text: "No meter yet" }),
    el("p", { text: "A meter appears here by itself as soon as this host finds it." }),
    el("ol", {},
      el("li", { text: "A meter with a USB port of its own: plug it into this host." }),
      el("li", { text: "A Bluetooth meter: switch it on within a few metres, and close the phone’s app, which keeps others out." }),
      el("li", {}, "Nothing comes? ", el("code", { text: "meterctl scan" }), " lists what is heard, and ",
        el("code", { text: "meterctl doctor" }), " says what is missing."),
      el("li", {}, "No meter at hand? ", el("code", { text: "meterd --demo" }), " plays four.")));
}
