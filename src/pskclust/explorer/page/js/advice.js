// Advice: answers about the selected clusters, and hints about the fit.

import * as api from "./api.js";
import { byId, element, plural } from "./words.js";

export class AdvicePanel {
  constructor(state, go, fail) {
    Object.assign(this, { state, go, fail });
    byId("ask-join").addEventListener("click", () => this.ask("join"));
    byId("ask-split").addEventListener("click", () => this.ask("split"));
    state.on("chosen fit", () => {
      this.showSelection();
      byId("advice-answer").replaceChildren();
    });
    state.on("hints", () => this.showHints());
  }

  async ask(kind) {
    const { fit, chosen } = this.state;
    byId("advice-answer").replaceChildren();
    try {
      await api.askAdvice(kind, fit.id, chosen);
    } catch (error) {
      this.fail(error);
    }
  }

  showSelection() {
    const { chosen } = this.state;
    byId("ask-join").disabled = chosen.length !== 2;
    byId("ask-split").disabled = chosen.length !== 1;
    byId("selection-words").textContent = chosen.length
      ? `Selected: cluster${chosen.length > 1 ? "s" : ""} ${chosen.join(" and ")}.`
      : "Click a cluster in the picture or in the table; Shift-click a second one.";
  }

  show(advice) {
    byId("advice-answer").replaceChildren(...this.parts(advice));
    byId("advice-answer").scrollIntoView({ block: "nearest" });
  }

  showHints() {
    const lines = (this.state.hints ?? []).map((hint) => element("li", {}, ...this.parts(hint)));
    byId("hints").replaceChildren(...lines);
  }

  parts({ text, change }) {
    if (!change) return [text];
    const words = Object.entries(change).map(([name, value]) => `${name.replaceAll("_", " ")} ${value}`);
    const label = change.n_clusters ? `Ask for ${plural(change.n_clusters, "cluster")}` : `Set ${words.join(", ")}`;
    const button = element("button", { type: "button", class: "do-it" }, label);
    button.addEventListener("click", () => this.go({ ...this.state.settings, ...change }));
    return [text, button];
  }
}
