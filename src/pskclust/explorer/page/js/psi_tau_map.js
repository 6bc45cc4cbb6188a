// The map of psi and tau: the number of clusters, and the agreement of two seeds.

import * as api from "./api.js";
import { byId, count, element, percent, plural, short } from "./words.js";

const RAMP = ["#00224e", "#123570", "#3b496c", "#575d6d", "#707173", "#8a8678", "#a59c74", "#c3b369", "#e1cc55", "#fee838"];

export class PsiTauMap {
  constructor(state, go, fail) {
    Object.assign(this, { state, go, fail });
    this.found = null;
    state.on("fit", () => this.refresh());
  }

  async refresh() {
    const { fit } = this.state;
    if (!fit) return;
    const chosen = fit.settings.tau === null;
    byId("map-none").hidden = !chosen;
    byId("map-all").hidden = chosen;
    if (chosen) return;
    try {
      const found = await api.map(fit.id);
      if (this.state.fit.id === fit.id) this.show(found);
    } catch (error) {
      this.fail(error);
    }
  }

  show(found) {
    const { settings } = this.state.fit;
    const here = [nearest(found.psi, settings.psi), nearest(found.tau, settings.tau)];
    const grid = byId("map");
    const focused = grid.contains(document.activeElement) ? document.activeElement.dataset.place : null;
    grid.style.gridTemplateColumns = `34px repeat(${found.tau.length}, minmax(0, 1fr))`;
    const cells = [];
    for (let p = found.psi.length - 1; p >= 0; p -= 1) {
      cells.push(element("div", { class: "side" }, count(found.psi[p])));
      for (let t = 0; t < found.tau.length; t += 1) {
        const spot = found.spots[p]?.[t];
        cells.push(this.cell(found.psi[p], found.tau[t], spot, here[0] === p && here[1] === t));
      }
    }
    cells.push(element("div", { class: "side" }, "psi/tau"));
    cells.push(...found.tau.map((tau) => element("div", { class: "foot" }, String(tau).replace(/^0/, ""))));
    grid.replaceChildren(...cells);
    if (focused) grid.querySelector(`[data-place="${focused}"]`)?.focus();
    const known = found.spots.filter(Boolean).length;
    const sample = found.rows < this.state.data.explored ? `, on a sample of ${count(found.rows)} rows` : "";
    byId("map-words").textContent = found.complete
      ? `All ${found.psi.length} rows of the map computed${sample}, with ${found.seeds} seeds each.`
      : `${known} of ${found.psi.length} rows of the map computed${sample}; the rest follows.`;
  }

  cell(psi, tau, spot, here) {
    const place = `${psi},${tau}`;
    const where = `psi ${psi}, tau ${tau}`;
    const words = spot ? `${where}: ${plural(spot.clusters, "cluster")}, ${percent(spot.noise)} noise, stability ${spot.stability.toFixed(2)}` : `${where}: not computed yet`;
    const made = element("button", { type: "button", title: words, "aria-label": words, "data-place": place, class: `${spot ? "" : "unknown"} ${here ? "here" : ""}` }, spot ? String(spot.clusters) : "");
    if (spot) {
      const level = Math.min(RAMP.length - 1, Math.max(0, Math.round(spot.stability * (RAMP.length - 1))));
      made.style.background = RAMP[level];
      made.style.color = level >= 5 ? "#101318" : "#ffffff";
    }
    made.addEventListener("click", () => this.go({ ...this.state.settings, psi, tau }));
    return made;
  }
}

function nearest(values, wanted) {
  const distances = values.map((value) => Math.abs(Math.log(value / wanted)));
  return distances.indexOf(Math.min(...distances));
}
