// The settings on the left: sliders that move on a logarithmic scale, and the rest.

import { byId, short } from "./words.js";

const STEPS = 1000;
const TAU = [1e-4, 0.9];

export class Controls {
  constructor(state, changed) {
    this.state = state;
    this.changed = changed;
    const mostPsi = Math.max(8, Math.min(4096, Math.floor(state.data.explored / 2)));
    this.scales = {
      psi: new Scale(2, mostPsi, (value) => Math.round(value)),
      tau: new Scale(...TAU, (value) => Number(value.toPrecision(3))),
    };
    for (const name of ["psi", "tau"]) this.wireSlider(name);
    for (const name of ["growth_rate", "n_partitions", "random_state", "min_cluster_size"]) this.wireNumber(byId(name), name);
    for (const name of ["metric", "scaling", "color_space"]) {
      byId(name).addEventListener("change", (event) => this.set(name, event.target.value));
    }
    byId("refine").addEventListener("change", (event) => this.set("refine", event.target.checked));
    for (const part of document.querySelectorAll(state.data.image ? ".for-table" : ".for-image")) part.hidden = true;
    state.on("settings", () => this.show());
    this.show();
  }

  wireSlider(name) {
    const slider = byId(name);
    slider.max = String(STEPS);
    slider.addEventListener("input", () => this.set(name, this.scales[name].value(Number(slider.value) / STEPS)));
    this.wireNumber(byId(`${name}-number`), name);
  }

  wireNumber(input, name) {
    input.addEventListener("change", () => {
      const text = input.value.trim();
      if (text === "" && name === "min_cluster_size") return this.set(name, null);
      const value = Number(text);
      const wrong = text === "" || !Number.isFinite(value);
      input.classList.toggle("wrong", wrong);
      return wrong ? undefined : this.set(name, value);
    });
  }

  set(name, value) {
    this.changed({ ...this.state.settings, [name]: value });
  }

  /** Show the settings as they are, but for what somebody is typing. */
  show() {
    const { settings } = this.state;
    for (const name of ["psi", "tau"]) {
      const slider = byId(name);
      const place = Math.round(STEPS * this.scales[name].place(settings[name]));
      if (Number(slider.value) !== place && this.scales[name].value(Number(slider.value) / STEPS) !== settings[name]) slider.value = String(place);
      slider.setAttribute("aria-valuetext", short(settings[name], 4));
      showText(byId(`${name}-number`), name === "tau" ? short(settings[name], 4) : String(settings[name]));
    }
    for (const name of ["growth_rate", "n_partitions", "random_state", "min_cluster_size"]) {
      showText(byId(name), settings[name] === null ? "" : String(settings[name]));
    }
    for (const name of ["metric", "scaling", "color_space"]) byId(name).value = settings[name];
    byId("refine").checked = settings.refine;
  }
}

function showText(input, text) {
  if (input.value !== text) input.value = text;
  input.classList.remove("wrong");
}

/** Values from low to high, each as far from the next by a factor. */
class Scale {
  constructor(low, high, round) {
    Object.assign(this, { low, high, round });
  }

  value(place) {
    return this.round(this.low * (this.high / this.low) ** place);
  }

  place(value) {
    const place = Math.log(value / this.low) / Math.log(this.high / this.low);
    return Math.min(1, Math.max(0, place));
  }
}
