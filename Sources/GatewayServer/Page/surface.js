// What a chart is drawn on: a canvas, or the text of an SVG file. Both know the same few strokes.

export class CanvasSurface {
  constructor(context, width, height, scale) {
    this.context = context;
    context.setTransform(scale, 0, 0, scale, 0, 0);
    context.clearRect(0, 0, width, height);
    context.lineJoin = "round";
    context.lineCap = "round";
  }

  /** Lines, each a list of x and y in turn. */
  lines(lines, { stroke, width = 1, dash = [] }) {
    const { context } = this;
    context.beginPath();
    for (const line of lines) {
      context.moveTo(line[0], line[1]);
      for (let index = 2; index < line.length; index += 2) context.lineTo(line[index], line[index + 1]);
      if (line.length === 2) context.lineTo(line[0], line[1]);
    }
    context.strokeStyle = stroke;
    context.lineWidth = width;
    context.setLineDash(dash);
    context.stroke();
  }

  area(points, fill, alpha) {
    const { context } = this;
    context.beginPath();
    context.moveTo(points[0], points[1]);
    for (let index = 2; index < points.length; index += 2) context.lineTo(points[index], points[index + 1]);
    context.closePath();
    context.globalAlpha = alpha;
    context.fillStyle = fill;
    context.fill();
    context.globalAlpha = 1;
  }

  /** Rectangles: left, top, width and height in turn. */
  columns(numbers, fill, alpha) {
    const { context } = this;
    context.globalAlpha = alpha;
    context.fillStyle = fill;
    for (let index = 0; index < numbers.length; index += 4) {
      context.fillRect(numbers[index], numbers[index + 1], numbers[index + 2], numbers[index + 3]);
    }
    context.globalAlpha = 1;
  }

  rectangle(x, y, width, height, fill) {
    this.context.fillStyle = fill;
    this.context.fillRect(x, y, width, height);
  }

  text(x, y, text, { fill, anchor = "start", size = 12, weight = 400, halo = null }) {
    const { context } = this;
    // Setting a font takes longer than writing with it.
    const font = `${weight} ${size}px system-ui, "DejaVu Sans", sans-serif`;
    if (font !== this.font) context.font = this.font = font;
    context.textAlign = { start: "left", middle: "center", end: "right" }[anchor];
    if (halo) {
      context.strokeStyle = halo;
      context.lineWidth = 3;
      context.setLineDash([]);
      context.strokeText(text, x, y);
    }
    context.fillStyle = fill;
    context.fillText(text, x, y);
  }

  clipped(x, y, width, height, draw) {
    this.context.save();
    this.context.beginPath();
    this.context.rect(x, y, width, height);
    this.context.clip();
    draw();
    this.context.restore();
  }
}

const escaped = (text) => String(text).replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
const short = (value) => String(Math.round(value * 100) / 100);

export class VectorSurface {
  constructor(width, height, ground) {
    this.parts = [];
    this.clips = 0;
    this.width = width;
    this.height = height;
    this.rectangle(0, 0, width, height, ground);
  }

  lines(lines, { stroke, width = 1, dash = [] }) {
    const path = lines.map((line) => this.path(line) + (line.length === 2 ? "h0" : "")).join("");
    if (!path) return;
    this.parts.push(`<path d="${path}" fill="none" stroke="${stroke}" stroke-width="${width}" stroke-linejoin="round" stroke-linecap="round"`
      + `${dash.length ? ` stroke-dasharray="${dash.join(" ")}"` : ""}/>`);
  }

  path(points) {
    let path = "";
    for (let index = 0; index < points.length; index += 2) path += `${index ? "L" : "M"}${short(points[index])},${short(points[index + 1])}`;
    return path;
  }

  area(points, fill, alpha) { this.parts.push(`<path d="${this.path(points)}Z" fill="${fill}" fill-opacity="${alpha}"/>`); }

  columns(numbers, fill, alpha) {
    let path = "";
    for (let index = 0; index < numbers.length; index += 4) {
      const [x, y, width, height] = numbers.slice(index, index + 4).map(short);
      path += `M${x},${y}h${width}v${height}h-${width}Z`;
    }
    this.parts.push(`<path d="${path}" fill="${fill}" fill-opacity="${alpha}"/>`);
  }

  rectangle(x, y, width, height, fill) {
    this.parts.push(`<rect x="${short(x)}" y="${short(y)}" width="${short(width)}" height="${short(height)}" fill="${fill}"/>`);
  }

  text(x, y, text, { fill, anchor = "start", size = 12, weight = 400 }) {
    this.parts.push(`<text x="${short(x)}" y="${short(y)}" fill="${fill}" text-anchor="${anchor}" font-size="${size}" `
      + `font-weight="${weight}">${escaped(text)}</text>`);
  }

  clipped(x, y, width, height, draw) {
    const id = `clip${this.clips += 1}`;
    this.parts.push(`<clipPath id="${id}"><rect x="${x}" y="${y}" width="${width}" height="${height}"/></clipPath><g clip-path="url(#${id})">`);
    draw();
    this.parts.push("</g>");
  }

  /** The whole file. */
  get file() {
    return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${this.width} ${this.height}" width="${this.width}" height="${this.height}" `
      + `font-family="system-ui, DejaVu Sans, sans-serif">${this.parts.join("")}</svg>\n`;
  }
}
