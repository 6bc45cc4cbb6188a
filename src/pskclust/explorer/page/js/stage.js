// The picture: its panes, their content, and their response to pointer and keys.

import * as api from "./api.js";
import { settingWords } from "./history.js";
import { Hover } from "./hover.js";
import { Pane } from "./pane.js";
import { byId, element, plural, short, swatch } from "./words.js";

const LEGENDS = {
  similarity: "similarity to own cluster",
  distribution: "similarity of each place",
  growth: "step (early is bright)",
};

// Axes whose ranges differ by a larger factor are drawn to fill the pane.
const MOST_UNLIKE = 3;

export class Stage {
  constructor(state, theme, fail) {
    Object.assign(this, { state, theme, fail });
    this.left = new Pane(byId("pane-left"));
    this.right = new Pane(byId("pane-right"));
    this.panes = [this.left, this.right];
    this.hover = new Hover(state, theme);
    this.planes = new Map();
    this.number = 0;
    this.waiting = null;
    for (const pane of this.panes) this.wire(pane);
    byId("zoom-in").addEventListener("click", () => this.zoom(0.7));
    byId("zoom-out").addEventListener("click", () => this.zoom(1 / 0.7));
    byId("zoom-all").addEventListener("click", () => this.showAll());
    for (const button of document.querySelectorAll("[data-mode]")) {
      button.addEventListener("click", () => state.set({ mode: button.dataset.mode, step: null }));
      button.addEventListener("keydown", (event) => moveAmong(event, "[data-mode]"));
    }
    state.on("fit view mode chosen beside step", () => this.refresh());
    state.on("rows", () => this.redraw());
    state.on("box", () => this.later());
    new ResizeObserver(() => this.later()).observe(byId("panes"));
  }

  /** Request new pictures; the promise `latest` resolves when they are shown. */
  refresh() {
    this.latest = this.load();
  }

  /** Load and show pictures, unless newer ones are requested meanwhile. */
  async load() {
    const { state } = this;
    this.showModes();
    if (!state.fit) return;
    this.number += 1;
    const number = this.number;
    this.waiting?.abort();
    this.waiting = new AbortController();
    try {
      const plane = await this.plane();
      if (number !== this.number) return;
      this.arrange(plane);
      const box = this.fitted(plane);
      const wanted = this.wanted();
      for (const { pane } of wanted) pane.box = box;
      this.redraw();
      this.showAgreement(number);
      await Promise.all(wanted.map(({ pane, parameters }) => this.fill(pane, parameters, box, number)));
    } catch (error) {
      if (error.name !== "AbortError") this.fail(error);
    }
  }

  async fill(pane, parameters, box, number) {
    const frame = pane.frame(box);
    const asked = { ...this.state.view, ...frame, ...parameters };
    const key = parameters.mode === "original" ? JSON.stringify(asked) : null;
    if (key !== null && pane.key === key) return;
    const picture = await api.picture(asked, this.waiting.signal);
    if (number !== this.number || (parameters.mode !== "original" && picture.fit !== parameters.fit)) return;
    pane.show(picture, box);
    pane.key = key;
    pane.draw();
    if (pane === this.right) this.showLegend(picture.high);
  }

  async plane() {
    const { fit, view } = this.state;
    const key = JSON.stringify([view, fit.settings.scaling, fit.settings.color_space]);
    if (!this.planes.has(key)) this.planes.set(key, await api.plane(fit.id, view));
    return this.planes.get(key);
  }

  /** Return the panes to fill, with the parameters of their pictures. */
  wanted() {
    const { state } = this;
    const common = (fit) => {
      const mode = state.modeOf(fit);
      return { theme: this.theme(), mode, step: mode === "growth" ? state.step : null, fit: fit.id };
    };
    const current = { ...common(state.fit), isolated: state.chosen.join(",") };
    const wanted = [{ pane: this.right, parameters: current }];
    if (state.beside) wanted.push({ pane: this.left, parameters: common(state.beside) });
    else if (this.isImage) wanted.push({ pane: this.left, parameters: { fit: state.fit.id, mode: "original" } });
    return wanted;
  }

  get isImage() {
    return this.state.view.view === "image";
  }

  arrange(plane) {
    const { state } = this;
    this.left.figure.hidden = !(state.beside || this.isImage);
    const panes = byId("panes");
    const wide = state.data.size && state.data.size[0] / state.data.size[1] > panes.clientWidth / panes.clientHeight;
    panes.classList.toggle("stacked", this.isImage && Boolean(wide));
    for (const pane of this.panes) {
      pane.isImage = this.isImage;
      pane.names = plane.names;
      pane.caption.hidden = this.left.hidden;
    }
    const words = (fit) => `${settingWords(fit.settings)}: ${plural(fit.clusters, "cluster")}`;
    this.left.caption.textContent = state.beside ? words(state.beside) : "Original";
    this.right.caption.textContent = words(state.fit);
    this.right.canvas.setAttribute("aria-label", `${state.mode} of ${words(state.fit)}`);
  }

  /** Return the part of the plane to show, in the proportions of the pane if both axes have the same scale. */
  fitted(plane) {
    let [left, right, bottom, top] = this.state.box ?? plane.box;
    if (!this.isImage && !isComparable(plane)) return [left, right, bottom, top];
    const area = this.right.area();
    const up = Math.sign(top - bottom);
    const perPixel = Math.max((right - left) / area.width, Math.abs(top - bottom) / area.height);
    const [x, y] = [(left + right) / 2, (bottom + top) / 2];
    [left, right] = [x - (perPixel * area.width) / 2, x + (perPixel * area.width) / 2];
    [bottom, top] = [y - (up * perPixel * area.height) / 2, y + (up * perPixel * area.height) / 2];
    return [left, right, bottom, top];
  }

  redraw() {
    const { state } = this;
    const few = state.rows.length <= 60 && state.mode !== "distribution";
    const seeds = few ? state.rows.filter((row) => row.seed_at).map((row) => row.seed_at) : [];
    this.right.marks = this.isImage ? [] : seeds;
    byId("marks").hidden = !this.right.marks.length;
    byId("marks-words").textContent = state.fit?.settings.tau === null ? "most similar row of each cluster" : "first row of each cluster";
    // The words on marks take room from the names of classes.
    this.showClasses();
    for (const pane of this.panes) pane.draw();
  }

  showModes() {
    const { state } = this;
    for (const button of document.querySelectorAll("[data-mode]")) {
      const on = button.dataset.mode === state.mode;
      button.setAttribute("aria-checked", String(on));
      button.tabIndex = on ? 0 : -1;
    }
    const chosen = (state.fit ?? state).settings.tau === null;
    const growth = document.querySelector("[data-mode=growth]");
    growth.disabled = chosen;
    growth.title = chosen ? "Only grown clusters have growth steps: switch to psi and tau" : "The growth step in which each row joined its cluster (4)";
    byId("growth").hidden = state.mode !== "growth" || chosen;
    if (["clusters", "classes"].includes(state.mode)) byId("legend").hidden = true;
    this.showClasses();
    const others = state.data.columns.length > 2 && state.mode === "distribution" && !this.isImage;
    byId("picture-words").textContent = others
      ? state.view.view === "pca" ? "On the plane through the mean" : "Other columns are at their medians"
      : "";
  }

  /** Show the names of the known classes in their colours. */
  showClasses() {
    const { classes } = this.state.data;
    document.querySelector("[data-mode=classes]").hidden = classes === null;
    const line = byId("class-names");
    line.hidden = this.state.mode !== "classes";
    if (line.hidden) return;
    const names = classes.names.map((name, place) => element("span", {}, swatch(classes.colours[this.theme()][place]), ` ${name}`));
    const rest = element("span", {});
    line.replaceChildren(...names, rest);
    // Names that do not fit on the line are counted.
    for (let shown = names.length; shown > 0; shown -= 1) {
      const more = classes.number - shown;
      rest.textContent = more > 0 ? `and ${more} more` : "";
      if (line.scrollWidth <= line.clientWidth) break;
      names[shown - 1].remove();
    }
  }

  /** Show the agreement of the two settings side by side. */
  async showAgreement(number) {
    const { fit, beside } = this.state;
    if (!beside || beside.id === fit.id) return;
    const { agreement } = await api.compare(fit.id, beside.id).catch(() => ({}));
    if (number !== this.number || agreement === undefined) return;
    byId("picture-words").textContent = `Agreement of the two: ${agreement.toFixed(2)} (adjusted Rand index)`;
  }

  showLegend(high) {
    const { mode, step } = this.state;
    const shown = high !== null && !(mode === "growth" && step !== null);
    byId("legend").hidden = !shown;
    if (!shown) return;
    byId("legend-low").textContent = mode === "growth" ? short(high) : "0";
    byId("legend-high").textContent = mode === "growth" ? "0" : short(high);
    byId("legend-words").textContent = LEGENDS[mode];
  }

  wire(pane) {
    const { canvas } = pane;
    let held = null;
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      this.zoom(event.deltaY > 0 ? 1.2 : 1 / 1.2, pane.toPlane(event.offsetX, event.offsetY));
    }, { passive: false });
    canvas.addEventListener("dblclick", () => this.showAll());
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      held = { x: event.offsetX, y: event.offsetY, box: pane.box, moved: false };
    });
    canvas.addEventListener("pointermove", (event) => {
      if (!held) return this.pointAt(pane, event);
      held.moved ||= Math.hypot(event.offsetX - held.x, event.offsetY - held.y) > 4;
      return held.moved ? this.drag(pane, held, event) : undefined;
    });
    canvas.addEventListener("pointerup", (event) => {
      if (held && !held.moved && pane === this.right) this.click(pane, event);
      held = null;
    });
    canvas.addEventListener("pointercancel", () => { held = null; });
    canvas.addEventListener("pointerleave", () => this.pointAt(null));
    canvas.addEventListener("keydown", (event) => this.key(event));
  }

  drag(pane, held, event) {
    const area = pane.area();
    const [left, right, bottom, top] = held.box;
    const dx = ((event.offsetX - held.x) / area.width) * (right - left);
    const dy = ((event.offsetY - held.y) / area.height) * (top - bottom);
    this.hover.hide();
    this.moveTo([left - dx, right - dx, bottom + dy, top + dy]);
  }

  key(event) {
    const moves = { ArrowLeft: [-0.15, 0], ArrowRight: [0.15, 0], ArrowUp: [0, 0.15], ArrowDown: [0, -0.15] };
    const move = moves[event.key];
    const { box } = this.right;
    if (!move || !box) return;
    event.preventDefault();
    const [left, right, bottom, top] = box;
    const dx = move[0] * (right - left);
    const dy = move[1] * (top - bottom);
    this.moveTo([left + dx, right + dx, bottom + dy, top + dy]);
  }

  zoom(factor, around = null) {
    const { box } = this.right;
    if (!box) return;
    const [left, right, bottom, top] = box;
    const [x, y] = around ?? [(left + right) / 2, (bottom + top) / 2];
    const to = (end, middle) => middle + (end - middle) * factor;
    this.moveTo([to(left, x), to(right, x), to(bottom, y), to(top, y)]);
  }

  showAll() {
    this.state.set({ box: null });
  }

  /** Move the current picture at once; a new one is requested when the movement stops. */
  moveTo(box) {
    for (const pane of this.panes) pane.box = box;
    this.redraw();
    this.state.set({ box });
  }

  later() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.refresh(), 60);
  }

  async pointAt(pane, event = null) {
    for (const other of this.panes) {
      if (other !== pane && other.spot) {
        other.spot = null;
        other.draw();
      }
    }
    if (!pane || !pane.box || !this.state.fit) return this.hover.hide();
    const fit = pane === this.left && this.state.beside ? this.state.beside : this.state.fit;
    const row = await this.hover.at(pane, fit, event.offsetX, event.offsetY);
    if (row !== undefined && (row?.at?.[0] !== pane.spot?.[0] || row?.at?.[1] !== pane.spot?.[1])) {
      pane.spot = row?.at ?? null;
      pane.draw();
    }
    return undefined;
  }

  async click(pane, event) {
    const { shiftKey, ctrlKey, metaKey } = event;
    const row = await this.hover.at(pane, this.state.fit, event.offsetX, event.offsetY);
    if (row !== undefined) this.state.choose(row ? row.cluster : null, shiftKey || ctrlKey || metaKey);
  }
}

/** Return whether the ranges of the axes are similar enough to give both the same scale. */
function isComparable({ box: [left, right, bottom, top], names }) {
  const ratio = (right - left) / (top - bottom);
  return names[1] !== "" && ratio <= MOST_UNLIKE && ratio >= 1 / MOST_UNLIKE;
}

/** Let arrow keys move among the buttons of a group. */
export function moveAmong(event, selector) {
  const by = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
  if (!by) return;
  event.preventDefault();
  event.stopPropagation();
  const all = [...document.querySelectorAll(selector)].filter((button) => !button.hidden && !button.disabled);
  const next = all[(all.indexOf(event.target) + by + all.length) % all.length];
  next.focus();
  next.click();
}
