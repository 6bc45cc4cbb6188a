// Clusters growing from their seeds, step by step, each by its own count.

import { byId } from "./words.js";

const MILLISECONDS = 130;

export class Growth {
  constructor(state) {
    this.state = state;
    this.playing = null;
    byId("play").addEventListener("click", () => this.toggle());
    byId("step").addEventListener("input", () => {
      this.pause();
      state.set({ step: Number(byId("step").value) });
    });
    state.on("fit mode", () => this.reset());
    state.on("step", () => this.show());
  }

  get last() {
    return this.state.fit?.steps ?? 0;
  }

  toggle() {
    if (this.playing) return this.pause();
    const { step } = this.state;
    this.state.set({ mode: "growth", step: step === null || step >= this.last ? 0 : step });
    this.playing = setInterval(() => this.next(), MILLISECONDS);
    return this.show();
  }

  next() {
    const step = this.state.step + 1;
    if (step > this.last) return this.pause();
    return this.state.set({ step });
  }

  pause() {
    clearInterval(this.playing);
    this.playing = null;
    this.show();
  }

  reset() {
    if (this.playing && this.state.mode === "growth") return;
    this.pause();
    this.state.set({ step: null });
    this.show();
  }

  show() {
    const { step } = this.state;
    const slider = byId("step");
    slider.max = String(this.last);
    slider.value = String(step ?? this.last);
    byId("play").textContent = this.playing ? "Pause" : "Play";
    byId("step-words").textContent = step === null ? `all ${this.last} steps` : `step ${step} of ${this.last}`;
  }
}
