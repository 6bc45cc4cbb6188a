// The history of settings, undo and redo, and the comparison of two settings.

import { byId, count, element, percent, plural, short } from "./words.js";

const MAX_ENTRIES = 200;

export class History {
  constructor(state, go) {
    this.state = state;
    this.go = go;
    this.entries = [];
    this.place = -1;
    byId("undo").addEventListener("click", () => this.move(-1));
    byId("redo").addEventListener("click", () => this.move(1));
  }

  /** Add a fit to the history, unless undo or redo led to it. */
  note(fit) {
    const here = this.entries[this.place];
    if (here && here.id === fit.id) this.entries[this.place] = fit;
    else {
      this.entries = [...this.entries.slice(0, this.place + 1), fit].slice(-MAX_ENTRIES);
      this.place = this.entries.length - 1;
    }
    this.show();
  }

  move(by) {
    const next = this.entries[this.place + by];
    if (!next) return;
    this.place += by;
    this.go(next.settings);
    this.show();
  }

  show() {
    byId("undo").disabled = this.place <= 0;
    byId("redo").disabled = this.place >= this.entries.length - 1;
    const lines = this.entries.map((fit, place) => this.line(fit, place));
    byId("history").replaceChildren(...lines.reverse());
  }

  line(fit, place) {
    const beside = this.state.beside?.id === fit.id;
    const words = settingWords(fit.settings);
    const last = fit.settings.tau !== null
      ? `, objective ${short(fit.objective)}`
      : fit.stability === null ? "" : `, stability ${fit.stability.toFixed(2)}`;
    const known = fit.agreement === null ? "" : `, ARI ${fit.agreement.toFixed(2)}`;
    const found = `${plural(fit.clusters, "cluster")}, ${percent(fit.noise_share)} noise${last}${known}`;
    const go = element("button", { type: "button", class: "go" }, words, element("br"), element("span", { class: "what" }, found));
    go.addEventListener("click", () => {
      this.place = place;
      this.go(fit.settings);
      this.show();
    });
    const compare = element("button", { type: "button", class: "compare", "aria-pressed": String(beside), "aria-label": `Compare with ${words}` }, beside ? "Close" : "Compare");
    compare.addEventListener("click", () => {
      this.state.set({ beside: beside ? null : fit });
      this.show();
    });
    return element("li", { class: place === this.place ? "current" : "" }, go, compare);
  }
}

/** Return words for a setting. */
export function settingWords(settings) {
  const { psi, tau, n_clusters: number, layer } = settings;
  if (layer !== null) return `Layer of ${plural(layer, "cluster")}; ${settingWords({ ...settings, layer: null })}`;
  if (tau !== null) return `psi ${count(psi)}, tau ${short(tau)}${otherWords(settings)}`;
  const how = number === null ? "Automatic" : `${plural(number, "cluster")} asked for`;
  return `${how}${psi === null ? "" : `, psi ${count(psi)}`}${otherWords(settings)}`;
}

/** Return words for the settings that differ from the defaults. */
function otherWords(settings) {
  const words = [];
  const grown = settings.tau !== null;
  if (grown && settings.growth_rate !== 0.1) words.push(`growth rate ${short(settings.growth_rate)}`);
  if (settings.n_partitions !== 100) words.push(`t ${settings.n_partitions}`);
  if (settings.random_state !== 0) words.push(`seed ${settings.random_state}`);
  if (settings.min_cluster_size) words.push(`at least ${count(settings.min_cluster_size)} rows`);
  if (settings.refine === !grown) words.push(grown ? "not refined" : "refined");
  if (settings.noise !== "keep") words.push("noise to the nearest cluster");
  if (settings.metric !== "euclidean") words.push(settings.metric);
  if (settings.scaling !== "none") words.push(`${settings.scaling} scaling`);
  if (settings.color_space !== "lab") words.push(settings.color_space.toUpperCase());
  return words.length ? `, ${words.join(", ")}` : "";
}
