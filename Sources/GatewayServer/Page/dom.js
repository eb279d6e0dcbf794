// Makes elements. Text goes in as text: nothing that a meter or another host says is ever taken for markup.

/** An element with attributes, handlers (`onclick`) and children. `class`, `text` and `hidden` are what they say. */
export function el(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (key === "text") element.textContent = value;
    else if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
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
  if (element.textContent !== text) element.textContent = text;
}

export function setAttribute(element, name, value) {
  if (value === null || value === undefined || value === false) element.removeAttribute(name);
  else if (element.getAttribute(name) !== String(value)) element.setAttribute(name, value === true ? "" : value);
}

/** A table with a caption for screen readers; each cell is a text or an element. */
export function table(caption, heads, rows, empty) {
  if (rows.length === 0) return el("p", { class: "empty", text: empty });
  return el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `${caption}, table` },
    el("table", {},
      el("caption", { class: "hear", text: caption }),
      el("thead", {}, el("tr", {}, heads.map((head) => el("th", { scope: "col", text: head })))),
      el("tbody", {}, rows.map((cells) => el("tr", {}, cells.map((cell) =>
        el("td", {}, cell instanceof Node ? cell : String(cell ?? "–"))))))));
}

let clearing;

/** Tells something once, on the screen and to screen readers. */
export function say(message, isBad = false) {
  const said = document.getElementById("said");
  said.className = isBad ? "bad" : "";
  said.textContent = message;
  clearTimeout(clearing);
  clearing = setTimeout(() => { said.textContent = ""; }, isBad ? 12000 : 5000);
}
