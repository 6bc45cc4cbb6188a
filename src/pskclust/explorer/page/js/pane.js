// A picture on a canvas: drawn by the server, and moved and zoomed here until a new one arrives.

import { short } from "./words.js";

const MARGIN = { left: 54, right: 10, top: 8, bottom: 34 };
const MAX_SCALE = 2;
const MAX_PIXELS = 1_900_000;

export class Pane {
  constructor(figure) {
    this.figure = figure;
    this.canvas = figure.querySelector("canvas");
    this.caption = figure.querySelector("figcaption");
    this.picture = null;
    this.box = null;
    this.names = ["", ""];
    this.isImage = false;
    this.marks = [];
    this.spot = null;
  }

  get hidden() {
    return this.figure.hidden;
  }

  /** Return the part of the canvas that shows the plane, in pixels of the page. */
  area() {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    const margin = this.isImage ? { left: 6, right: 6, top: 6, bottom: 6 } : MARGIN;
    return {
      left: margin.left,
      top: margin.top,
      width: Math.max(1, width - margin.left - margin.right),
      height: Math.max(1, height - margin.top - margin.bottom),
    };
  }

  /** Return the parameters of a picture request: the box and the size in pixels of the screen. */
  frame(box) {
    const area = this.area();
    let scale = Math.min(MAX_SCALE, window.devicePixelRatio || 1);
    scale = Math.min(scale, Math.sqrt(MAX_PIXELS / (area.width * area.height)));
    const [left, right, bottom, top] = box;
    return {
      left, right, bottom, top,
      w: Math.max(1, Math.round(area.width * scale)),
      h: Math.max(1, Math.round(area.height * scale)),
      scale: Math.max(0.5, Number(scale.toFixed(3))),
    };
  }

  show(picture, box) {
    this.picture?.bitmap.close();
    this.picture = { bitmap: picture.bitmap, box };
    this.canvas.dataset.fit = picture.fit ?? "";
  }

  toPage([x, y]) {
    const area = this.area();
    const [left, right, bottom, top] = this.box;
    return [
      area.left + ((x - left) / (right - left)) * area.width,
      area.top + ((top - y) / (top - bottom)) * area.height,
    ];
  }

  toPlane(x, y) {
    const area = this.area();
    const [left, right, bottom, top] = this.box;
    return [
      left + ((x - area.left) / area.width) * (right - left),
      top - ((y - area.top) / area.height) * (top - bottom),
    ];
  }

  draw() {
    if (!this.box || this.hidden) return;
    const scale = window.devicePixelRatio || 1;
    const { clientWidth: width, clientHeight: height } = this.canvas;
    this.canvas.width = Math.round(width * scale);
    this.canvas.height = Math.round(height * scale);
    const context = this.canvas.getContext("2d");
    context.scale(scale, scale);
    this.drawOn(context, width, height);
  }

  drawOn(context, width, height) {
    const style = getComputedStyle(document.documentElement);
    const colour = (name) => style.getPropertyValue(name).trim();
    context.fillStyle = colour("--card");
    context.fillRect(0, 0, width, height);
    const area = this.area();
    context.save();
    context.beginPath();
    context.rect(area.left, area.top, area.width, area.height);
    context.clip();
    this.drawPicture(context);
    this.drawMarks(context, colour("--card"), colour("--text"));
    context.restore();
    if (!this.isImage) this.drawAxes(context, area, colour("--line"), colour("--quiet"));
  }

  drawPicture(context) {
    if (!this.picture) return;
    const [left, right, bottom, top] = this.picture.box;
    const [x0, y0] = this.toPage([left, top]);
    const [x1, y1] = this.toPage([right, bottom]);
    context.imageSmoothingEnabled = !this.isImage;
    context.drawImage(this.picture.bitmap, x0, y0, x1 - x0, y1 - y0);
  }

  drawMarks(context, light, dark) {
    for (const place of this.marks) {
      const [x, y] = this.toPage(place);
      for (const [colour, width] of [[light, 4], [dark, 1.8]]) {
        context.strokeStyle = colour;
        context.lineWidth = width;
        context.beginPath();
        context.moveTo(x - 4, y - 4);
        context.lineTo(x + 4, y + 4);
        context.moveTo(x - 4, y + 4);
        context.lineTo(x + 4, y - 4);
        context.stroke();
      }
    }
    if (!this.spot) return;
    const [x, y] = this.toPage(this.spot);
    context.strokeStyle = dark;
    context.lineWidth = 2;
    context.beginPath();
    context.arc(x, y, 7, 0, 2 * Math.PI);
    context.stroke();
  }

  drawAxes(context, area, line, quiet) {
    context.strokeStyle = line;
    context.lineWidth = 1;
    context.strokeRect(area.left + 0.5, area.top + 0.5, area.width - 1, area.height - 1);
    context.fillStyle = quiet;
    context.font = "11px system-ui, 'Liberation Sans', 'DejaVu Sans', sans-serif";
    const [left, right, bottom, top] = this.box;
    context.textAlign = "center";
    context.textBaseline = "top";
    for (const value of ticks(left, right, area.width / 90)) {
      const [x] = this.toPage([value, bottom]);
      context.fillRect(Math.round(x), area.top + area.height, 1, 4);
      context.fillText(short(value, 4), x, area.top + area.height + 6);
    }
    context.textAlign = "right";
    context.textBaseline = "middle";
    for (const value of this.names[1] === "" ? [] : ticks(bottom, top, area.height / 60)) {
      const [, y] = this.toPage([left, value]);
      context.fillRect(area.left - 4, Math.round(y), 4, 1);
      context.fillText(short(value, 4), area.left - 7, y);
    }
    context.textBaseline = "bottom";
    context.fillText(cut(context, this.names[0], area.width), area.left + area.width, area.top + area.height + 32);
    context.save();
    context.translate(12, area.top);
    context.rotate(-Math.PI / 2);
    context.textBaseline = "middle";
    context.fillText(cut(context, this.names[1], area.height), 0, 0);
    context.restore();
  }
}

/** Return round numbers from low to high, approximately `about` of them. */
function ticks(low, high, about) {
  const rough = (high - low) / Math.max(1, about);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= rough);
  const found = [];
  for (let n = Math.ceil(low / step); n * step <= high && found.length < 50; n += 1) {
    found.push(Number((n * step).toPrecision(12)));
  }
  return found;
}

function cut(context, text, width) {
  let shown = text;
  while (shown.length > 1 && context.measureText(shown).width > width) shown = `${shown.slice(0, -2)}\u2026`;
  return shown;
}
