// State of the page. A link holds the settings, the view, the mode, the box and the selected clusters.

const NUMBERS = ["psi", "tau", "n_clusters", "layer", "growth_rate", "n_partitions", "random_state", "min_cluster_size"];
// Settings that become null if a link does not name them.
const OPEN = ["psi", "tau", "n_clusters", "layer", "min_cluster_size", "refine"];
const MODES = ["clusters", "similarity", "distribution", "growth", "classes"];

export class State extends EventTarget {
  constructor(first, grown, data) {
    super();
    this.data = data;
    // Default psi and tau of grown clusters.
    this.grown = grown;
    this.settings = { ...first };
    this.view = data.image
      ? { view: "image", vx: 0, vy: 1 }
      : { view: data.columns.length > 2 ? "pca" : "columns", vx: 0, vy: 1 };
    this.box = null;
    this.mode = "clusters";
    this.chosen = [];
    this.fit = null;
    this.rows = [];
    this.hints = [];
    this.columnHints = [];
    this.beside = null;
    this.step = null;
  }

  /** Change some parts, and notify the listeners of those that differ. */
  set(changes) {
    const different = Object.keys(changes).filter(
      (name) => JSON.stringify(this[name]) !== JSON.stringify(changes[name]),
    );
    Object.assign(this, changes);
    for (const name of different) this.dispatchEvent(new Event(name));
    if (different.length) this.dispatchEvent(new Event("change"));
  }

  on(names, listener) {
    for (const name of names.split(" ")) this.addEventListener(name, listener);
  }

  choose(cluster, also) {
    if (cluster === null || cluster < 0) return this.set({ chosen: [] });
    if (also) {
      const rest = this.chosen.filter((other) => other !== cluster);
      const chosen = rest.length < this.chosen.length ? rest : [...rest.slice(-1), cluster];
      return this.set({ chosen });
    }
    const alone = this.chosen.length === 1 && this.chosen[0] === cluster;
    return this.set({ chosen: alone ? [] : [cluster] });
  }

  toLink() {
    const parts = new URLSearchParams();
    for (const [name, value] of Object.entries(this.settings)) {
      if (value !== null) parts.set(name, String(value));
    }
    parts.set("view", Object.values(this.view).join(","));
    parts.set("mode", this.mode);
    if (this.chosen.length) parts.set("chosen", this.chosen.join(","));
    if (this.box) parts.set("box", this.box.map((value) => Number(value.toPrecision(8))).join(","));
    return `#${parts}`;
  }

  /** Apply the state in a link; invalid parts are ignored. */
  fromLink(link) {
    const parts = new URLSearchParams(link.replace(/^#/, ""));
    const settings = { ...this.settings };
    for (const name of Object.keys(settings)) {
      if (!parts.has(name)) continue;
      const text = parts.get(name);
      if (NUMBERS.includes(name)) {
        if (text !== "" && Number.isFinite(Number(text))) settings[name] = Number(text);
      } else if (name === "refine") settings[name] = text !== "false";
      else settings[name] = text;
    }
    if (parts.has("random_state") || parts.has("psi")) {
      for (const name of OPEN) if (!parts.has(name)) settings[name] = null;
    }
    const changes = { settings };
    const [view, vx, vy] = (parts.get("view") ?? "").split(",");
    if (this.knows(view, Number(vx), Number(vy))) {
      changes.view = { view, vx: Number(vx), vy: Number(vy) };
    }
    if (this.hasMode(parts.get("mode"))) changes.mode = parts.get("mode");
    const wholes = (parts.get("chosen") ?? "").split(",").filter(Boolean).map(Number);
    changes.chosen = wholes.every((n) => Number.isInteger(n) && n >= 0) ? wholes.slice(0, 2) : [];
    const box = (parts.get("box") ?? "").split(",").filter(Boolean).map(Number);
    changes.box = box.length === 4 && box.every(Number.isFinite) && box[0] < box[1] ? box : null;
    this.set(changes);
  }

  knows(view, vx, vy) {
    const n = this.data.columns.length;
    const inside = (column) => Number.isInteger(column) && column >= 0 && column < Math.max(2, n);
    if (!inside(vx) || !inside(vy)) return false;
    return view === "columns" || (view === "pca" && n > 2) || (view === "image" && this.data.image);
  }

  /** Return whether a mode exists for this data. */
  hasMode(mode) {
    return MODES.includes(mode) && (mode !== "classes" || this.data.classes !== null);
  }

  /** Return the mode of the picture of a fit: growth only if its clusters grew. */
  modeOf(fit) {
    return this.mode === "growth" && fit?.settings.tau === null ? "clusters" : this.mode;
  }

  /** Return the colours of clusters in the picture of a fit: mean colours on an image. */
  colours(theme, fit = this.fit) {
    if (!fit) return [];
    return this.view.view === "image" ? fit.mean_colours : fit.colours[theme];
  }

  /** Return the colour of noise in the picture. */
  noiseColour(theme) {
    return this.view.view === "image" ? "#ffffff" : this.data.noise_colours[theme];
  }
}
