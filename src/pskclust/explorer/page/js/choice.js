// The number of clusters, chosen or asked for, and the table of candidates.

import { byId, capital, element, percent, refill, wholeIn } from "./words.js";

const MAX_OPTIONS = 6;
const LEAST_MOST = 20;

export class Choice {
  constructor(state, changed, fail) {
    Object.assign(this, { state, changed, fail });
    this.found = null;
    this.foundAt = null;
    const slider = byId("n_clusters");
    // A choice takes longer than growth, so only the number at the end of a slider move is requested.
    slider.addEventListener("input", () => { byId("n_clusters-number").value = slider.value; });
    slider.addEventListener("change", () => this.ask(Number(slider.value)));
    byId("n_clusters-number").addEventListener("change", () => this.type());
    byId("find").addEventListener("click", () => this.ask(null));
    state.on("settings fit", () => this.show());
    this.show();
  }

  /** Request a number of clusters; null or the chosen number returns to the choice. */
  ask(number) {
    const known = this.known();
    const same = known !== null && number === known.clusters;
    this.changed({ ...this.state.settings, n_clusters: same ? null : number });
    this.show();
  }

  type() {
    const input = byId("n_clusters-number");
    const isEmpty = input.value.trim() === "";
    const number = wholeIn(input.value);
    const wrong = !isEmpty && Number.isNaN(number);
    input.classList.toggle("wrong", wrong);
    if (wrong) this.fail(new Error(`Number of clusters must be a whole number, without separators, not "${input.value}".`));
    else this.ask(isEmpty ? null : number);
  }

  /** Return the choice at this setting, also if another number is asked for; null if unknown. */
  known() {
    const { fit, settings } = this.state;
    if (fit?.found) [this.found, this.foundAt] = [fit.found, place(fit.settings)];
    return this.foundAt === place(settings) ? this.found : null;
  }

  show() {
    const { fit, settings } = this.state;
    if (settings.tau !== null) return;
    const known = this.known();
    const asked = settings.n_clusters;
    const shown = fit !== null && fit.settings.tau === null ? fit.fit_clusters : null;
    const number = settings.layer ?? asked ?? known?.clusters ?? shown;
    const slider = byId("n_clusters");
    slider.max = String(Math.max(LEAST_MOST, 2 * (known?.clusters ?? 0), number ?? 0));
    slider.value = String(number ?? 1);
    const input = byId("n_clusters-number");
    input.value = number === null ? "" : String(number);
    input.classList.remove("wrong");
    byId("found-words").textContent = words(known, asked, settings.layer);
    byId("find").hidden = asked === null && settings.layer === null;
    byId("find").textContent = known === null ? "Find the number" : `Back to ${known.clusters}`;
    byId("reason").textContent = known === null ? "" : `${capital(known.reason)}.`;
    // A candidate with the same number of clusters as the layer may be another clustering.
    this.showOptions(known, settings.layer === null ? number : null);
  }

  showOptions(known, number) {
    byId("options-table").hidden = known === null;
    const options = known?.options ?? [];
    refill(byId("options"), options.slice(0, MAX_OPTIONS).map((option) => this.line(option, known, number)));
  }

  line(option, known, number) {
    const target = option.is_chosen ? known.clusters : option.n_clusters;
    const current = target === number;
    const name = element("button", { type: "button", "aria-pressed": String(current), title: option.is_chosen ? "The number that was chosen" : `Ask for ${option.n_clusters} clusters` },
      `${option.n_clusters}${option.is_chosen ? " (found)" : ""}`);
    const line = element("tr", { class: current ? "current" : "", "data-number": option.n_clusters },
      element("td", {}, name),
      element("td", { class: "right" }, percent(option.odds)),
      element("td", { class: "right" }, option.stability === null ? "\u2013" : option.stability.toFixed(2)));
    line.addEventListener("click", () => this.ask(target));
    return line;
  }
}

/** Return a key of a setting that ignores the number of clusters and the layer. */
function place(settings) {
  return JSON.stringify({ ...settings, n_clusters: null, layer: null });
}

function words(known, asked, layer) {
  const choice = known === null ? "" : ` The choice was ${known.clusters}.`;
  if (layer !== null) return `A layer of ${layer} clusters.${choice}`;
  if (asked !== null) return `You asked for ${asked}.${choice}`;
  return known === null ? "" : "Chosen automatically.";
}
