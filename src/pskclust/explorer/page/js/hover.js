// The row under the pointer: its values, cluster and similarity.

import * as api from "./api.js";
import { byId, count, element, percent, plural, short, swatch } from "./words.js";

export class Hover {
  constructor(state, theme) {
    Object.assign(this, { state, theme });
    this.box = byId("hover");
    this.number = 0;
    this.busy = false;
  }

  /** Show and return the row at a point, null if there is none; undefined if a newer request came. */
  async at(pane, fit, x, y) {
    this.number += 1;
    const number = this.number;
    const area = pane.area();
    const inside = x >= area.left && y >= area.top && x < area.left + area.width && y < area.top + area.height;
    if (!inside) return this.hide();
    if (this.busy) {
      await this.busy;
      if (number !== this.number) return undefined;
    }
    const frame = pane.frame(pane.box);
    const px = ((x - area.left) / area.width) * frame.w;
    const py = ((y - area.top) / area.height) * frame.h;
    const question = api.row(fit.id, this.state.view, frame, px, py).catch(() => null);
    this.busy = question;
    const row = await question;
    if (this.busy === question) this.busy = null;
    if (number !== this.number) return undefined;
    if (row) this.show(row, fit, pane, x, y);
    else this.hide();
    return row;
  }

  hide() {
    this.number += 1;
    this.box.hidden = true;
    return null;
  }

  show(row, fit, pane, x, y) {
    const colour = this.state.colours(this.theme(), fit)[row.cluster];
    const name = row.cluster < 0 ? "Noise" : `Cluster ${row.cluster}`;
    const title = element("div", {}, ...(colour ? [swatch(colour), " "] : []), element("strong", {}, name));
    const words = [this.state.data.image ? "" : `row ${count(row.row)}`];
    if (row.class !== null) words.push(`class ${row.class}`);
    if (row.cluster >= 0) words.push(`similarity ${short(row.similarity)}`);
    if (row.cluster >= 0 && row.confidence !== null) words.push(`confidence ${percent(row.confidence)}`);
    if (row.step !== null && row.step >= 0) words.push(`step ${row.step}`);
    const lines = row.values.map(({ column, value }) =>
      element("tr", {}, element("td", {}, column), element("td", {}, short(value, 5))));
    const more = row.more ? [element("div", { class: "what" }, `and ${plural(row.more, "more column")}`)] : [];
    this.box.replaceChildren(
      title,
      element("div", { class: "what" }, words.filter(Boolean).join(", ")),
      element("table", {}, element("tbody", {}, ...lines)),
      ...more,
    );
    this.box.hidden = false;
    this.place(pane, x, y);
  }

  place(pane, x, y) {
    const panes = byId("panes").getBoundingClientRect();
    const canvas = pane.canvas.getBoundingClientRect();
    const left = canvas.left - panes.left + x;
    const top = canvas.top - panes.top + y;
    const { offsetWidth: width, offsetHeight: height } = this.box;
    const flip = left + width + 24 > panes.width;
    this.box.style.left = `${Math.max(0, flip ? left - width - 14 : left + 14)}px`;
    this.box.style.top = `${Math.max(0, Math.min(top + 10, panes.height - height - 4))}px`;
  }
}
