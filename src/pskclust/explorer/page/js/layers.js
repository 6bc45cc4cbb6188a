// Layers: coarser and finer clusterings of the same rows, shown without a new fit.

import { byId, capital, element, refill } from "./words.js";

const COLUMNS = [
  { name: "likeness", title: "Similarity of the two most similar clusters: the lower, the clearer the clusters", words: (value) => (value === 0 ? "0" : value < 0.0005 ? "< 0.001" : value.toFixed(3)) },
  { name: "stability", title: "How well clusters are found again in random halves of the rows: mean over clusters", words: (value) => value.toFixed(2) },
];

export class Layers {
  constructor(state, go) {
    Object.assign(this, { state, go });
    state.on("fit", () => this.show());
  }

  show() {
    const layers = this.state.fit?.layers ?? [];
    // A single layer is the fit itself.
    byId("layers-table").hidden = layers.length < 2;
    // A figure that is the same for all layers tells nothing.
    const columns = COLUMNS.filter(({ name, words }) => new Set(layers.map((layer) => layer[name] === null ? "" : words(layer[name]))).size > 1);
    byId("layers-names").replaceChildren(
      element("th", { scope: "col" }, "Clusters"),
      ...columns.map(({ name, title }) => element("th", { scope: "col", class: "right", title }, capital(name))),
    );
    refill(byId("layers"), layers.map((layer) => this.line(layer, columns)));
  }

  line(layer, columns) {
    const { fit } = this.state;
    const number = layer.n_clusters;
    const isFit = number === fit.fit_clusters;
    const current = number === fit.clusters;
    const name = element("button", { type: "button", "aria-pressed": String(current), title: isFit ? "The clusters of the fit" : `Show the layer of ${number} clusters` },
      `${number}${isFit ? " (fit)" : ""}`);
    const line = element("tr", { class: current ? "current" : "", "data-number": number },
      element("td", {}, name),
      ...columns.map((column) => element("td", { class: "right" }, layer[column.name] === null ? "\u2013" : column.words(layer[column.name]))));
    line.addEventListener("click", () => this.go({ ...fit.settings, layer: isFit ? null : number }));
    return line;
  }
}
