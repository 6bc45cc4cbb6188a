// Light or dark theme: that of the system, until the user switches it.

import { byId } from "./words.js";

const KEY = "pskclust-theme";

export function theme() {
  return document.documentElement.dataset.theme;
}

export function wireTheme(changed) {
  const system = matchMedia("(prefers-color-scheme: dark)");
  const show = () => {
    const chosen = remembered() ?? (system.matches ? "dark" : "light");
    document.documentElement.dataset.theme = chosen;
    byId("theme").textContent = chosen === "dark" ? "Light" : "Dark";
    byId("theme").title = `Switch to ${chosen === "dark" ? "light" : "dark"} colours`;
    changed();
  };
  system.addEventListener("change", show);
  byId("theme").addEventListener("click", () => {
    remember(theme() === "dark" ? "light" : "dark");
    show();
  });
  show();
}

function remembered() {
  try {
    const found = localStorage.getItem(KEY);
    return found === "light" || found === "dark" ? found : null;
  } catch {
    return null;
  }
}

function remember(value) {
  try {
    localStorage.setItem(KEY, value);
  } catch {
    // Without storage the choice lasts as long as the page.
    document.documentElement.dataset.theme = value;
  }
}
