// Requests to the server. An error has a message that can be shown.

import { sentence } from "./words.js";

let session = "";

export class Refused extends Error {
  constructor(words, status) {
    super(words);
    this.status = status;
  }
}

async function request(path, options = {}) {
  let response;
  try {
    response = await fetch(path, { ...options, headers: { "X-Session": session, ...options.headers } });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refused("The explorer does not answer. Is it still running?", 0);
  }
  if (response.ok) return response;
  let words = `The server answered ${response.status}.`;
  try {
    words = (await response.json()).error ?? words;
  } catch {
    // The answer is not JSON, so only the status is known.
  }
  throw new Refused(sentence(words), response.status);
}

function address(path, parameters) {
  const given = Object.entries(parameters).filter(([, value]) => value !== null && value !== "");
  return `${path}?${new URLSearchParams(given)}`;
}

async function send(path, body, options = {}) {
  const headers = { "Content-Type": "application/json" };
  const response = await request(path, { method: "POST", headers, body: JSON.stringify(body), ...options });
  return response.json();
}

async function get(path, parameters = {}, signal = null) {
  return (await request(address(path, parameters), { signal })).json();
}

export async function openSession() {
  const found = await send("api/session", {});
  session = found.session;
  return found;
}

export function endSession() {
  // The page is being closed, so nothing waits for the answer.
  if (session) send("api/end", {}, { keepalive: true }).catch(() => {});
}

export const ask = (settings) => send("api/fit", settings);
export const stop = () => send("api/stop", {});
export const askAdvice = (kind, fit, clusters) => send("api/advice", { kind, fit, clusters });
export const news = (after) => get("api/news", { after });
export const plane = (fit, view) => get("api/plane", { fit, ...view });
export const clusters = (fit, view) => get("api/clusters", { fit, ...view });
export const map = (fit) => get("api/map", { fit });
export const compare = (fit, other) => get("api/compare", { fit, other });
export const recipes = (fit) => get("api/recipes", { fit });
export const row = (fit, view, frame, x, y, signal) =>
  get("api/row", { fit, ...view, ...frame, x, y }, signal);

export async function picture(parameters, signal) {
  const response = await request(address("api/picture", parameters), { signal });
  const high = response.headers.get("X-High");
  const bitmap = await createImageBitmap(await response.blob());
  return { bitmap, fit: response.headers.get("X-Fit"), high: high === null ? null : Number(high) };
}

export async function file(fit, kind) {
  const response = await request(address("api/export", { fit, kind }));
  const named = /filename="([^"]+)"/.exec(response.headers.get("Content-Disposition") ?? "");
  return { name: named ? named[1] : kind, blob: await response.blob() };
}
