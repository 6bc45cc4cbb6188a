// Advice: answers about the selected clusters, and hints about the fit.

import * as api from "./api.js";
import { byId, copyText, element, unbroken } from "./words.js";

export class AdvicePanel {
  constructor(state, go, fail) {
    Object.assign(this, { state, go, fail });
    byId("ask-join").addEventListener("click", () => this.ask("join"));
    byId("ask-split").addEventListener("click", () => this.ask("split"));
    state.on("chosen fit", () => {
      this.showSelection();
      byId("advice-answer").replaceChildren();
    });
    state.on("hints", () => this.showHints("hints", state.hints));
    state.on("columnHints", () => this.showHints("column-hints", state.columnHints));
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

  showHints(id, hints) {
    byId(id).replaceChildren(...hints.map((hint) => element("li", {}, ...this.parts(hint))));
  }

  parts({ text, change, button }) {
    if (!change) return withCommand(text);
    const made = element("button", { type: "button", class: "do-it" }, button);
    made.addEventListener("click", () => this.go({ ...this.state.settings, ...change }));
    return [text, made];
  }
}

/** Return a text whose command at the end, such as pskclust explore t.csv --id a, can be copied. */
function withCommand(text) {
  const [, words, command] = /^(.*: )(pskclust .*)$/.exec(text) ?? [null, text, null];
  if (command === null) return [words];
  const code = element("code", {}, ...unbroken(command));
  const button = element("button", { type: "button", class: "copy" }, "Copy");
  button.addEventListener("click", () => copyText(button, code));
  return [words, code, button];
}
