// The choice of axes: any two columns, principal axes, or the image itself.

import { byId, element } from "./words.js";

export class Views {
  constructor(state) {
    this.state = state;
    byId("view-x").addEventListener("change", () => this.changed());
    byId("view-y").addEventListener("change", () => this.changed());
    state.on("view fit", () => this.show());
    this.show();
  }

  changed() {
    const [x, y] = [byId("view-x").value, byId("view-y").value];
    const { vx, vy } = this.state.view;
    const view = x === "image" || x === "pca"
      ? { view: x, vx, vy }
      : { view: "columns", vx: Number(x), vy: Number(y === "" ? vy : y) };
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

function fill(select, options, value) {
  select.replaceChildren(...options.map(([key, name]) => element("option", { value: key }, name)));
  select.value = value;
}

function colourNames(space) {
  return { lab: ["L", "a", "b"], rgb: ["red", "green", "blue"], hsv: ["saturation x cos(hue)", "saturation x sin(hue)", "value"] }[space];
}
