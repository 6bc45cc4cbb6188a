// Export of files, Python code and commands.

import * as api from "./api.js";
import { byId, copyText, unbroken } from "./words.js";

export class Export {
  constructor(state, pane, fail) {
    Object.assign(this, { state, pane, fail });
    for (const button of document.querySelectorAll("[data-export]")) {
      button.addEventListener("click", () => this.take(button));
    }
    for (const button of document.querySelectorAll("[data-copy]")) {
      button.addEventListener("click", () => copyText(button, byId(button.dataset.copy)));
    }
    state.on("fit", () => this.refresh());
  }

  async refresh() {
    const { fit } = this.state;
    if (!fit) return;
    try {
      const found = await api.recipes(fit.id);
      if (this.state.fit.id !== fit.id) return;
      byId("python-code").textContent = found.python;
      byId("command-part").hidden = found.command === null;
      byId("command-none").hidden = found.command !== null;
      byId("command-line").replaceChildren(...unbroken(found.command ?? ""));
    } catch (error) {
      this.fail(error);
    }
  }

  async take(button) {
    if (!this.state.fit) return;
    const words = byId("export-words");
    button.disabled = true;
    words.textContent = "Preparing the file\u2026";
    try {
      const kind = button.dataset.export;
      const { name, blob } = kind === "picture" ? await this.picture() : await api.file(this.state.fit.id, kind);
      save(name, blob);
      words.textContent = `${name} is in your downloads.`;
    } catch (error) {
      words.textContent = "";
      this.fail(error);
    }
    button.disabled = false;
  }

  async picture() {
    const blob = await new Promise((resolve) => this.pane.canvas.toBlob(resolve, "image/png"));
    return { name: "clusters.png", blob };
  }
}

function save(name, blob) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
