// Makes elements. Text goes in as text: nothing that a meter or another host says is ever taken for markup.

// Control characters but for line ends, marks of direction, what has no width, separators, tags, what stands for nothing:
// the same that the programs show as escapes.
const HIDDEN = /(?!\n)[\p{Cc}\p{Cf}\p{Cn}\p{Co}\p{Cs}\p{Zl}\p{Zp}\p{DI}]/gu;
const PLAIN = /^[\n -~–°·Ω]*$/;
const PICTURE = /(?![\x00-\x7F])\p{Emoji}$/u;

/** A text with an escape for every character that cannot be seen, so that no name looks like another. */
export function visible(text) {
  const whole = String(text);
  // Most texts are plain, and change twice a second.
  if (PLAIN.test(whole)) return whole;
  return whole.replace(HIDDEN, (hidden, place, whole) =>
    (hidden === "\uFE0E" || hidden === "\uFE0F") && PICTURE.test(whole.slice(0, place)) ? hidden
      : `\\u{${hidden.codePointAt(0).toString(16).toUpperCase()}}`);
}

/** An element with attributes, handlers (`onclick`) and children. `class`, `text` and `hidden` are what they say. */
export function el(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (key === "text") element.textContent = visible(value);
    else if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else element.setAttribute(key, value === true ? "" : key === "aria-label" ? visible(value) : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false)
    .map((child) => child instanceof Node ? child : visible(child)));
  return element;
}

const SVG = "http://www.w3.org/2000/svg";

export function svg(tag, attributes = {}, ...children) {
  const element = document.createElementNS(SVG, tag);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

/** Changes a text only where it differs, so that selections stay and nothing is announced twice. */
export function setText(element, text) {
  const shown = visible(text);
  const only = element.firstChild;
  if (only?.nodeType === Node.TEXT_NODE && element.lastChild === only) {
    // The same node with other words: less for the browser to lay out.
    if (only.data !== shown) only.data = shown;
  } else if (element.textContent !== shown) {
    element.textContent = shown;
  }
}

export function setAttribute(element, name, value) {
  if (value === null || value === undefined || value === false) element.removeAttribute(name);
  else {
    // Written only where it differs: each write has the browser work out styles anew.
    const text = value === true ? "" : String(value);
    if (element.getAttribute(name) !== text) element.setAttribute(name, text);
  }
}

/** A table with a caption for screen readers; each cell is a text or an element. */
export function table(caption, heads, rows, empty) {
  if (rows.length === 0) return el("p", { class: "empty", text: empty });
  return el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `${caption}, table` },
    el("table", {},
      el("caption", { class: "hear", text: caption }),
      el("thead", {}, el("tr", {}, heads.map((head) => el("th", { scope: "col", text: head })))),
      el("tbody", {}, rows.map((cells) => el("tr", {}, cells.map((cell) =>
        el("td", {}, cell instanceof Node ? cell : visible(cell ?? "–"))))))));
}

let clearing;

/** Tells something once, on the screen and to screen readers. */
export function say(message, isBad = false, patience = isBad ? 12000 : 5000) {
  const said = document.getElementById("said");
  said.className = isBad ? "bad" : "";
  said.textContent = visible(message);
  clearTimeout(clearing);
  clearing = setTimeout(() => { said.textContent = ""; }, patience);
}
