// The settings on the left: the switch between chosen and grown, logarithmic sliders, and other controls.

import { byId, numberIn, short, wholeIn } from "./words.js";

const STEPS = 1000;
const TAU = [1e-4, 0.9];
// An arrow key doubles or halves psi, and multiplies or divides tau by 10 ** 0.1; a page key goes further with tau.
const KEY_FACTORS = { psi: 2, tau: 10 ** 0.1 };
const PAGE_FACTORS = { psi: 2, tau: 10 };
const KEY_DIRECTIONS = { ArrowRight: 1, ArrowUp: 1, PageUp: 1, ArrowLeft: -1, ArrowDown: -1, PageDown: -1 };
const FRACTIONS = ["tau", "growth_rate"];
const NUMBERS = ["growth_rate", "n_partitions", "random_state", "min_cluster_size"];

export class Controls {
  constructor(state, changed, fail) {
    Object.assign(this, { state, changed, fail });
    this.grown = state.grown;
    const mostPsi = Math.max(8, Math.min(4096, Math.floor(state.data.explored / 2)));
    this.scales = {
      psi: new Scale(2, mostPsi, (value) => Math.round(value)),
      tau: new Scale(...TAU, (value) => Number(value.toPrecision(3))),
    };
    for (const name of ["psi", "tau"]) this.wireSlider(name);
    for (const name of NUMBERS) this.wireNumber(byId(name), name);
    this.wireNumber(byId("chosen-psi"), "psi");
    this.wireWays();
    wireMore();
    for (const name of ["metric", "scaling", "color_space"]) {
      byId(name).addEventListener("change", (event) => this.set(name, event.target.value));
    }
    byId("refine").addEventListener("change", ({ target }) => {
      // By default, grown clusters are refined and chosen clusters are not.
      this.set("refine", target.checked === this.isGrown ? null : target.checked);
    });
    byId("noise-kept").addEventListener("change", ({ target }) => this.set("noise", target.checked ? "keep" : "nearest"));
    for (const part of document.querySelectorAll(state.data.image ? ".for-table" : ".for-image")) part.hidden = true;
    state.on("settings", () => this.show());
    this.show();
  }

  get isGrown() {
    return this.state.settings.tau !== null;
  }

  wireWays() {
    for (const button of document.querySelectorAll("[data-way]")) {
      button.addEventListener("click", () => this.go(button.dataset.way));
      button.addEventListener("keydown", (event) => {
        if (!["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"].includes(event.key)) return;
        event.preventDefault();
        const other = button.dataset.way === "chosen" ? "grown" : "chosen";
        document.querySelector(`[data-way=${other}]`).focus();
        this.go(other);
      });
    }
    byId("map-grow").addEventListener("click", () => this.go("grown"));
  }

  /** Switch to chosen clusters, or to grown clusters with the last psi and tau. */
  go(way) {
    if ((way === "grown") === this.isGrown) return;
    const place = way === "grown" ? this.grown : { psi: null, tau: null };
    // The selection is not kept, because cluster numbers mean other clusters there.
    this.changed({ ...this.state.settings, ...place, n_clusters: null }, false);
  }

  wireSlider(name) {
    const slider = byId(name);
    slider.max = String(STEPS);
    slider.addEventListener("input", () => this.set(name, this.scales[name].value(Number(slider.value) / STEPS)));
    slider.addEventListener("keydown", (event) => {
      const direction = KEY_DIRECTIONS[event.key];
      if (direction === undefined) return;
      event.preventDefault();
      const factors = event.key.startsWith("Page") ? PAGE_FACTORS : KEY_FACTORS;
      this.set(name, this.scales[name].moved(this.state.settings[name], factors[name] ** direction));
    });
    this.wireNumber(byId(`${name}-number`), name);
  }

  wireNumber(input, name) {
    input.addEventListener("change", () => {
      const isOpen = name === "min_cluster_size" || input.id === "chosen-psi";
      // The value of a field of type number is empty if its text is not a number.
      if (input.value.trim() === "" && isOpen && !input.validity.badInput) return this.set(name, null);
      const value = FRACTIONS.includes(name) ? numberIn(input.value) : wholeIn(input.value);
      const wrong = !Number.isFinite(value);
      input.classList.toggle("wrong", wrong);
      return wrong ? this.refuse(input, name) : this.set(name, value);
    });
  }

  refuse(input, name) {
    const label = document.querySelector(`label[for="${input.id.replace("-number", "")}"]`).firstChild.textContent.trim();
    const kind = FRACTIONS.includes(name) ? "a number" : "a whole number, without separators";
    this.fail(new Error(`${label} must be ${kind}.`));
  }

  set(name, value) {
    this.changed({ ...this.state.settings, [name]: value });
  }

  /** Show the current settings in all controls. */
  show() {
    const { settings } = this.state;
    this.showWay();
    if (this.isGrown) {
      this.grown = { psi: settings.psi, tau: settings.tau };
      for (const name of ["psi", "tau"]) this.showSlider(name, settings[name]);
    } else showText(byId("chosen-psi"), settings.psi === null ? "" : String(settings.psi));
    for (const name of NUMBERS) showText(byId(name), settings[name] === null ? "" : String(settings[name]));
    for (const name of ["metric", "scaling", "color_space"]) byId(name).value = settings[name];
    byId("refine").checked = settings.refine ?? this.isGrown;
    byId("noise-kept").checked = settings.noise === "keep";
  }

  showWay() {
    const grown = this.isGrown;
    for (const button of document.querySelectorAll("[data-way]")) {
      const on = (button.dataset.way === "grown") === grown;
      button.setAttribute("aria-checked", String(on));
      button.tabIndex = on ? 0 : -1;
    }
    byId("chosen-controls").hidden = grown;
    byId("grown-controls").hidden = !grown;
    for (const part of document.querySelectorAll(".for-grown")) part.hidden = !grown;
    for (const part of document.querySelectorAll(".for-chosen")) part.hidden = grown;
  }

  showSlider(name, value) {
    const slider = byId(name);
    const place = Math.round(STEPS * this.scales[name].place(value));
    if (Number(slider.value) !== place && this.scales[name].value(Number(slider.value) / STEPS) !== value) slider.value = String(place);
    slider.setAttribute("aria-valuetext", short(value, 4));
    showText(byId(`${name}-number`), name === "tau" ? short(value, 4) : String(value));
  }
}

/** Show a button while the panel has more settings below its visible part. */
function wireMore() {
  const [button, panel] = [byId("more-below"), document.querySelector(".controls")];
  const show = () => button.classList.toggle("gone", panel.scrollHeight - panel.scrollTop - panel.clientHeight < 16);
  button.addEventListener("click", () => panel.scrollTo({ top: panel.scrollHeight }));
  panel.addEventListener("scroll", show, { passive: true });
  const sizes = new ResizeObserver(show);
  for (const part of [panel, ...panel.children]) sizes.observe(part);
}

function showText(input, text) {
  if (input.value !== text) input.value = text;
  input.classList.remove("wrong");
}

/** Logarithmic scale from low to high; a place on it is a number from 0 to 1. */
class Scale {
  constructor(low, high, round) {
    Object.assign(this, { low, high, round });
  }

  value(place) {
    return this.round(this.low * (this.high / this.low) ** place);
  }

  moved(value, factor) {
    return this.round(Math.min(this.high, Math.max(this.low, value * factor)));
  }

  place(value) {
    const place = Math.log(value / this.low) / Math.log(this.high / this.low);
    return Math.min(1, Math.max(0, place));
  }
}
