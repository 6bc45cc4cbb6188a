// Results of a fit: its figures, the table of clusters and the profile.

import * as api from "./api.js";
import { byId, count, element, percent, plural, shape, short, swatch } from "./words.js";

const MAX_BARS = 40;

export class Answers {
  constructor(state, theme, fail) {
    Object.assign(this, { state, theme, fail });
    state.on("fit view", () => this.refresh());
    state.on("chosen rows view", () => this.show());
  }

  async refresh() {
    const { fit, view } = this.state;
    if (!fit) return;
    this.showTiles(fit);
    try {
      const found = await api.clusters(fit.id, view);
      if (this.state.fit.id === fit.id) this.state.set({ rows: found.clusters, hints: found.hints, columnHints: found.column_hints });
    } catch (error) {
      this.fail(error);
    }
  }

  showTiles(fit) {
    byId("n-clusters").textContent = count(fit.clusters);
    byId("noise").textContent = percent(fit.noise_share);
    this.showFigures(fit);
    byId("agreement-tile").hidden = fit.agreement === null;
    byId("agreement").textContent = fit.agreement === null ? "" : fit.agreement.toFixed(2);
    byId("noise").parentElement.title = plural(fit.noise, this.state.data.image ? "pixel" : "row");
    byId("seconds").textContent = fit.seconds.all.toFixed(2);
    byId("seconds").parentElement.title = secondsWords(fit);
  }

  /** Show the objective of grown clusters, or the stability of chosen clusters. */
  showFigures(fit) {
    const chosen = fit.settings.tau === null;
    const sure = fit.has_confidences && fit.settings.layer === null;
    byId("objective-name").textContent = chosen ? "Stability" : "Objective";
    byId("similarity-name").textContent = sure ? "Confidence" : "Similarity";
    byId("similarity-name").title = sure ? "Share of the odds held by candidates that agree with a row's label: mean over the rows of the cluster" : "Median similarity of the rows of the cluster to it";
    if (chosen) {
      byId("objective").textContent = fit.stability === null ? "\u2013" : fit.stability.toFixed(2);
      byId("objective").parentElement.title = "How well clusters are found again in random halves of the rows: mean over clusters, 0 to 1.";
      return;
    }
    byId("objective").textContent = fit.objective >= 1000 ? count(fit.objective) : short(fit.objective, 4);
    const refined = fit.refinement
      ? ` Refinement added ${short(fit.refinement.gained)} and moved ${plural(fit.refinement.moved, this.state.data.image ? "colour" : "row")}.`
      : "";
    byId("objective").parentElement.title = `Total similarity of rows to their clusters (Equation 4 of the paper).${refined}`;
  }

  show() {
    const { rows, fit, chosen } = this.state;
    const focused = document.activeElement?.closest?.("#clusters [data-cluster]");
    const kept = focused && [focused.dataset.cluster, document.activeElement.className];
    const lines = rows.map((row) => this.line(row, chosen.includes(row.cluster)));
    byId("clusters").replaceChildren(...lines, ...this.noiseLine());
    if (kept) byId("clusters").querySelector(`[data-cluster="${kept[0]}"] .${kept[1]}`)?.focus();
    const more = fit ? fit.clusters - rows.length : 0;
    byId("clusters-more").textContent = more > 0 && rows.length ? `and ${plural(more, "smaller cluster")}` : "";
    this.showProfile();
  }

  line(row, chosen) {
    const { state } = this;
    const colour = state.colours(this.theme())[row.cluster] ?? "transparent";
    const box = element("input", { type: "checkbox", class: "pick", "aria-label": `Select cluster ${row.cluster}` });
    box.checked = chosen;
    box.addEventListener("click", (event) => event.stopPropagation());
    box.addEventListener("change", () => state.choose(row.cluster, true));
    const name = element("button", { type: "button", class: "name", "aria-pressed": String(chosen), title: "Isolate in the picture" }, swatch(colour), String(row.cluster));
    const apart = row.apart.map(({ column, difference, mean }) =>
      element("div", { title: `mean ${short(mean, 4)}, ${short(difference, 2)} standard deviations from the mean of all rows` },
        `${column} ${difference > 0 ? "high" : "low"} (${short(mean)})`));
    const line = element("tr", { class: chosen ? "chosen" : "", "data-cluster": row.cluster },
      element("td", {}, box),
      element("td", {}, name),
      element("td", { class: "right" }, count(row.size), element("div", { class: "share" }, percent(row.share))),
      element("td", { class: "right" }, row.confidence === null ? short(row.similarity[1]) : percent(row.confidence)),
      element("td", { class: "apart" }, ...(apart.length ? apart : [element("span", { class: "what" }, "no large difference")])),
    );
    line.addEventListener("click", (event) => state.choose(row.cluster, event.shiftKey || event.ctrlKey || event.metaKey));
    return line;
  }

  /** Return the line for noise, which cannot be selected; no line if there is no noise. */
  noiseLine() {
    const { fit } = this.state;
    if (!fit || !fit.noise) return [];
    const colour = this.state.noiseColour(this.theme());
    return [element("tr", { class: "noise" },
      element("td", {}),
      element("td", {}, element("span", { class: "name" }, swatch(colour), "Noise")),
      element("td", { class: "right" }, count(fit.noise), element("div", { class: "share" }, percent(fit.noise_share))),
      element("td", { colspan: 2 }),
    )];
  }

  showProfile() {
    const rows = this.state.rows.slice(0, MAX_BARS);
    if (!rows.length) return byId("profile").replaceChildren(element("p", { class: "rule" }, "No clusters."));
    const [width, line, top] = [320, 17, 30];
    const [sizeLeft, sizeWidth, simLeft, simWidth] = [34, 92, 194, 116];
    const height = top + rows.length * line + 8;
    const svg = shape("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": "Sizes and similarities of clusters" });
    const mostSize = Math.max(...rows.map((row) => row.size), 1e-12);
    const mostSimilar = Math.max(...rows.map((row) => row.similarity[2]), 1e-12);
    svg.append(
      shape("text", { x: sizeLeft, y: 12, class: "quiet" }, "size"),
      shape("text", { x: simLeft, y: 12, class: "quiet" }, "similarity"),
      shape("text", { x: simLeft, y: 25, class: "quiet" }, "0"),
      shape("text", { x: simLeft + simWidth, y: 25, class: "quiet", "text-anchor": "end" }, short(mostSimilar)),
    );
    rows.forEach((row, place) => {
      const y = top + place * line;
      const colour = this.state.colours(this.theme())[row.cluster] ?? "#888888";
      const [low, middle, high] = row.similarity.map((value) => simLeft + (value / mostSimilar) * simWidth);
      const bar = Math.max(1, (row.size / mostSize) * sizeWidth);
      svg.append(
        shape("text", { x: sizeLeft - 6, y: y + 11, "text-anchor": "end" }, String(row.cluster)),
        shape("rect", { x: sizeLeft, y: y + 2, height: 11, rx: 2, width: bar, fill: colour }),
        shape("text", { x: sizeLeft + bar + 4, y: y + 11, class: "quiet" }, count(row.size)),
        shape("line", { x1: low, x2: Math.max(high, low + 1), y1: y + 7.5, y2: y + 7.5, class: "whisker" }),
        shape("circle", { cx: middle, cy: y + 7.5, r: 3.4, class: "middle" }),
      );
    });
    return byId("profile").replaceChildren(svg);
  }
}

function secondsWords({ seconds, settings }) {
  const { choice, cells, growth, refinement } = seconds;
  const rest = `${refinement.toFixed(2)} seconds`;
  if (settings.layer !== null) return "Time for the similarities of the layer, without a new fit";
  if (settings.tau === null) return `Choice ${choice.toFixed(2)}, cells ${cells.toFixed(2)}, results ${rest}`;
  const first = cells > 0.0005 ? `Cells ${cells.toFixed(2)}` : "Cells reused";
  return `${first}, growth ${growth.toFixed(2)}, refinement and results ${rest}`;
}
