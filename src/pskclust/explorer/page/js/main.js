// The page as a whole: creates its parts, sends settings and receives updates.

import { AdvicePanel } from "./advice.js";
import { Answers } from "./answers.js";
import * as api from "./api.js";
import { Choice } from "./choice.js";
import { Controls } from "./controls.js";
import { Growth } from "./growth.js";
import { History } from "./history.js";
import { Layers } from "./layers.js";
import { PsiTauMap } from "./psi_tau_map.js";
import { Stage } from "./stage.js";
import { State } from "./state.js";
import { Export } from "./export.js";
import { wireTabs } from "./tabs.js";
import { theme, wireTheme } from "./theme.js";
import { Views } from "./views.js";
import { byId, count, plural, sentence } from "./words.js";

const MILLISECONDS_BETWEEN_QUESTIONS = 70;
const STAGES = {
  choose: "Choosing clusters",
  encode: "Finding cells",
  grow: "Growing clusters",
  link: "Assigning rows",
  refine: "Refining",
};

let state;
let parts;
let asking = null;
let askedAt = -Infinity;
let lastAsked = 0;
let version = 0;
let mapVersion = 0;
let toldOf = 0;
let keepsChosen = false;
// The last settings that the server accepted: those of the running fit, or else of the picture.
let accepted = null;

function fail(error) {
  if (error.name === "AbortError") return;
  byId("error-words").textContent = error.message;
  byId("error").hidden = false;
}

function forgive() {
  byId("error").hidden = true;
}

/** Request a setting; a newer request replaces it, here and on the server. */
function go(settings, keepChosen = false) {
  keepsChosen = keepChosen;
  state.set({ settings });
  if (asking) return;
  const wait = askedAt + MILLISECONDS_BETWEEN_QUESTIONS - performance.now();
  asking = setTimeout(async () => {
    asking = null;
    askedAt = performance.now();
    const wanted = state.settings;
    try {
      forgive();
      lastAsked = (await api.ask(wanted)).asked;
      accepted = wanted;
    } catch (error) {
      if (error.status === 410) await renew();
      else fail(error);
      if (error.status === 400 && !asking && accepted) state.set({ settings: accepted });
    }
  }, Math.max(0, wait));
}

/** Request the fit of a setting itself, not one of its layers. */
function fitAt(settings, keepChosen = false) {
  go({ ...settings, layer: null }, keepChosen);
}

/** Open a new session with the current settings, because the server has dropped an idle one. */
async function renew() {
  await api.openSession();
  version = 0;
  mapVersion = 0;
  toldOf = 0;
  lastAsked = (await api.ask(state.settings)).asked;
}

async function listen() {
  for (;;) {
    try {
      const found = await api.news(version);
      version = found.version;
      receive(found);
    } catch (error) {
      if (error.status === 410) await renew().catch(fail);
      else fail(error);
      await new Promise((resolve) => { setTimeout(resolve, 1000); });
    }
  }
}

function receive(found) {
  showWork(found);
  // An error or advice is shown once, not with every update.
  const isNew = found.asked !== toldOf;
  if (found.error || found.advice) toldOf = found.asked;
  if (found.error && isNew) {
    fail(new Error(sentence(found.error)));
    if (!asking && found.asked >= lastAsked) putBack();
  }
  if (found.fit && found.answered === found.asked && found.asked >= lastAsked) showFit(found.fit);
  if (found.advice && isNew) parts.advice.show(found.advice);
  if (found.map_version !== mapVersion) {
    mapVersion = found.map_version;
    parts.psiTauMap.refresh();
    parts.answers.refresh();
  }
}

function showFit(fit) {
  if (state.fit?.id === fit.id) return;
  state.set({ fit, chosen: stillChosen(fit), mode: state.modeOf(fit) });
  parts.history.note(fit);
  document.title = `${plural(fit.clusters, "cluster")} \u2013 ${state.data.name} \u2013 pskclust`;
}

/** Return the selected clusters by their numbers in a new fit, found by their colours, which stay the same. */
function stillChosen(fit) {
  const before = state.fit;
  if (before === null) return state.chosen.filter((cluster) => cluster < fit.clusters);
  if (!keepsChosen) return [];
  const colours = state.chosen.map((cluster) => before.colours.light[cluster]);
  return colours.map((colour) => fit.colours.light.indexOf(colour)).filter((cluster) => cluster >= 0);
}

function showWork({ doing, progress, queue }) {
  byId("stop").disabled = doing === null;
  document.querySelector(".stage").classList.toggle("busy", doing !== null);
  document.querySelector(".answers").classList.toggle("old", doing === "fit");
  const bar = byId("progress");
  if (doing === null) {
    byId("work-words").textContent = "Ready";
    bar.value = 0;
    return;
  }
  const words = doing === "advice" ? "Trying settings" : "Fitting";
  if (!progress) {
    byId("work-words").textContent = queue ? `Waiting for ${plural(queue, "other page")}` : `${words}\u2026`;
    bar.value = 0;
    return;
  }
  byId("work-words").textContent = `${doing === "advice" ? "Trying settings: " : ""}${STAGES[progress.stage] ?? words}\u2026`;
  bar.value = progress.total ? progress.done / progress.total : 0;
}

function wireKeys() {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey) {
      const by = { z: event.shiftKey ? 1 : -1, y: 1 }[event.key.toLowerCase()];
      if (!by || isTyping(event.target)) return;
      event.preventDefault();
      parts.history.move(by);
      return;
    }
    if (event.key === "Escape" && !byId("keys").open) return escape();
    if (isTyping(event.target) || event.altKey) return;
    const modes = { 1: "clusters", 2: "similarity", 3: "distribution", 4: "growth", 5: "classes" };
    if (modes[event.key]) setMode(modes[event.key]);
    else if (event.key === "+" || event.key === "=") parts.stage.zoom(0.7);
    else if (event.key === "-") parts.stage.zoom(1 / 0.7);
    else if (event.key === "0") parts.stage.showAll();
    else if (event.key === "?") byId("keys").showModal();
    else if (event.key === " " && !["BUTTON", "INPUT", "SUMMARY"].includes(event.target.tagName)) {
      event.preventDefault();
      if (isGrown()) parts.growth.toggle();
    }
  });
}

function setMode(mode) {
  if (state.hasMode(mode) && (mode !== "growth" || isGrown())) state.set({ mode, step: null });
}

/** Return whether the clusters in the picture grew. */
function isGrown() {
  return state.fit !== null && state.fit.settings.tau !== null;
}

function escape() {
  if (!byId("stop").disabled) stop();
  else state.set({ chosen: [] });
}

function isTyping(target) {
  return target.matches?.("input[type=text], input[type=number], select, textarea") ?? false;
}

/** Reset the settings to those of the picture. */
function putBack() {
  if (!state.fit) return;
  accepted = state.fit.settings;
  state.set({ settings: accepted });
}

async function stop() {
  try {
    await api.stop();
    putBack();
  } catch (error) {
    fail(error);
  }
}

function describe(data) {
  const size = data.image
    ? `${data.size[0]} \u00d7 ${data.size[1]} pixels, ${plural(data.rows, "colour")}`
    : `${plural(data.rows, "row")} \u00d7 ${plural(data.columns.length, "column")}`;
  byId("data-words").textContent = `${data.name} \u2013 ${size}`;
  byId("data-words").title = data.image ? "" : data.columns.join(", ");
  byId("sample-words").hidden = !data.sampled;
  byId("sample-words").textContent = `A sample of ${count(data.explored)} rows is shown; exported labels cover all rows`;
}

async function start() {
  wireTheme(() => { if (parts) repaint(); });
  byId("error-close").addEventListener("click", forgive);
  // An error is about the last input, so the next input removes it.
  document.addEventListener("input", forgive, true);
  byId("help").addEventListener("click", () => byId("keys").showModal());
  byId("stop").addEventListener("click", stop);
  wireTabs(document.querySelector("[role=tablist]"));
  const opened = await api.openSession();
  addEventListener("pagehide", () => api.endSession());
  // A page that the browser restores from its cache no longer has a session.
  addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });
  describe(opened.data);
  state = new State(opened.first, opened.grown, opened.data);
  const stage = new Stage(state, theme, fail);
  parts = {
    stage,
    controls: new Controls(state, (settings, keepChosen = true) => fitAt(settings, keepChosen), fail),
    choice: new Choice(state, (settings) => fitAt(settings, true), fail),
    layers: new Layers(state, (settings) => go(settings, true)),
    views: new Views(state),
    growth: new Growth(state, stage),
    answers: new Answers(state, theme, fail),
    psiTauMap: new PsiTauMap(state, fitAt, fail),
    advice: new AdvicePanel(state, fitAt, fail),
    history: new History(state, go),
    exports: new Export(state, stage.right, fail),
  };
  wireKeys();
  state.fromLink(location.hash);
  stage.showModes();
  state.on("change", () => window.history.replaceState(null, "", state.toLink()));
  addEventListener("hashchange", () => {
    state.fromLink(location.hash);
    go(state.settings);
  });
  go(state.settings);
  listen();
}

function repaint() {
  parts.stage.refresh();
  parts.answers.show();
}

start().catch(fail);
