// The choice of axes: any two columns, principal axes, or the image itself.

import { byId, element } from "./words.js";

export class Views {
  constructor(state) {
    this.state = state;
    for (const id of ["view-x", "view-y"]) byId(id).addEventListener("change", () => this.changed(id));
    state.on("view fit", () => this.show());
    this.show();
  }

  changed(id) {
    const [x, y] = [byId("view-x").value, byId("view-y").value];
    const { vx, vy } = this.state.view;
    const view = x === "image" || x === "pca"
      ? { view: x, vx, vy }
      : { view: "columns", vx: Number(x), vy: Number(y === "" ? vy : y) };
    // If both axes would show one column, the other axis takes the column that this axis had.
    if (view.view === "columns" && view.vx === view.vy) {
      if (id === "view-x") view.vy = another(view.vx, vx);
      else view.vx = another(view.vy, vy);
    }
    this.state.set({ view, box: null });
  }

  show() {
    const { data, view } = this.state;
    const names = data.image ? colourNames(this.state.settings.color_space) : data.columns;
    const special = [];
    if (data.image) special.push(["image", "Image"]);
    if (names.length > 2) special.push(["pca", "Principal axes"]);
    const columns = names.map((name, number) => [String(number), name]);
    fill(byId("view-x"), [...special, ...columns], view.view === "columns" ? String(view.vx) : view.view);
    fill(byId("view-y"), columns, String(view.vy));
    const lone = view.view !== "columns" || names.length < 2;
    byId("view-x-label").textContent = view.view === "columns" ? "x" : "Show";
    byId("view-y").hidden = lone;
    byId("view-y-label").hidden = lone;
  }
}

/** Return a column other than `taken`: `wanted` if it differs. */
function another(taken, wanted) {
  if (wanted !== taken) return wanted;
  return taken === 0 ? 1 : 0;
}

function fill(select, options, value) {
  select.replaceChildren(...options.map(([key, name]) => element("option", { value: key }, name)));
  select.value = value;
}

function colourNames(space) {
  return { lab: ["L", "a", "b"], rgb: ["red", "green", "blue"], hsv: ["saturation x cos(hue)", "saturation x sin(hue)", "value"] }[space];
}
