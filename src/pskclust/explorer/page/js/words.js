// Numbers formatted for people, and elements whose text is never parsed as markup.

export function count(value) {
  return Math.round(value).toLocaleString("en");
}

/** Return a fraction as a percentage; only 0 is shown as 0%, and only 1 as 100%. */
export function percent(share) {
  if (share > 0 && share < 0.001) return "< 0.1%";
  if (share < 1 && share >= 0.9995) return "> 99.9%";
  return `${(100 * share).toFixed(1)}%`;
}

export function short(value, digits = 3) {
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e6 || size < 1e-3) return value.toExponential(digits - 1).replace("e+", "e");
  return String(Number(value.toPrecision(digits)));
}

export function plural(number, word) {
  return `${count(number)} ${word}${number === 1 ? "" : "s"}`;
}

/** Return an element; strings among the children become text. */
export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "onclick") made.addEventListener("click", value);
    else if (name === "class") made.className = value;
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}

/** Replace the lines of a table; the focus stays on the line with the same number. */
export function refill(body, lines) {
  const focused = body.contains(document.activeElement) ? document.activeElement.closest("[data-number]")?.dataset.number : null;
  body.replaceChildren(...lines);
  if (focused) body.querySelector(`[data-number="${focused}"] button`)?.focus();
}

/** Return a text with its first letter capitalised. */
export function capital(text) {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}

/** Return a message that starts with a capital letter, unless it starts with psi or tau. */
export function sentence(text) {
  return /^(psi|tau)\b/.test(text) ? text : capital(text);
}

/** Return the whole number in a text; NaN if there is none. */
export function wholeIn(text) {
  return /^[+-]?\d+$/.test(text.trim()) ? Number(text) : NaN;
}

/** Return the number in a text, with a decimal point or comma; NaN if there is none. */
export function numberIn(text) {
  return text.trim() === "" ? NaN : Number(text.trim().replace(",", "."));
}

/** Return the words of a command, none of which is broken after a dash. */
export function unbroken(command) {
  return command.split(" ").flatMap((word, place) => [place ? " " : "", element("span", { class: "word" }, word)]);
}

/** Copy the text of an element; select it if the browser forbids copying. */
export async function copyText(button, source) {
  try {
    await navigator.clipboard.writeText(source.textContent);
    button.textContent = "Copied";
  } catch {
    getSelection().selectAllChildren(source);
    button.textContent = "Press Ctrl+C";
  }
  setTimeout(() => { button.textContent = "Copy"; }, 2000);
}

/** Return an SVG element. */
export function shape(tag, attributes = {}, text = null) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  if (text !== null) made.textContent = text;
  return made;
}

export function byId(id) {
  return document.getElementById(id);
}

export function swatch(colour) {
  const made = element("span", { class: "swatch", "aria-hidden": "true" });
  made.style.background = colour;
  return made;
}
