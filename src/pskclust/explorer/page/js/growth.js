// Growth of all clusters from their seeds; each cluster counts its steps from 0.

import { byId } from "./words.js";

const MILLISECONDS = 130;

export class Growth {
  constructor(state, stage) {
    Object.assign(this, { state, stage });
    this.playing = false;
    byId("play").addEventListener("click", () => this.toggle());
    byId("step").addEventListener("input", () => {
      // Read before the pause, which resets the slider to the step that is shown.
      const step = Number(byId("step").value);
      this.pause();
      state.set({ step });
    });
    state.on("fit mode", () => this.reset());
    state.on("step", () => this.show());
  }

  get last() {
    return this.state.fit?.steps ?? 0;
  }

  toggle() {
    if (this.playing) return this.pause();
    return this.play();
  }

  /** Play the steps; each is shown for a moment, and until its picture has arrived. */
  async play() {
    const { state } = this;
    const began = state.step === null || state.step >= this.last ? 0 : state.step;
    this.playing = true;
    state.set({ mode: "growth", step: began });
    for (let step = began; this.playing && step <= this.last; step += 1) {
      state.set({ step });
      await Promise.all([this.stage.latest, new Promise((done) => { setTimeout(done, MILLISECONDS); })]);
    }
    this.pause();
  }

  pause() {
    this.playing = false;
    this.show();
  }

  reset() {
    if (this.playing && this.state.mode === "growth" && this.state.step !== null) return;
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
