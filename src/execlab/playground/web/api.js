// Talking to the server. Whatever fails becomes an Error with the server's sentence, and its place if it has one.

const alertBox = () => document.getElementById("alert");

export function complain(sentence) {
  alertBox().textContent = sentence;
  alertBox().hidden = !sentence;
}

async function answer(response) {
  const found = await response.json().catch(() => ({ detail: `the server answered ${response.status}` }));
  if (response.ok) return found;
  throw Object.assign(new Error(found.detail), { status: response.status, line: found.line, column: found.column });
}

async function ask(url, options, tries = 3) {
  let response;
  try {
    response = await fetch(url, options);
  } catch {
    complain("The server cannot be reached. Is it still running?");
    throw new Error("the server cannot be reached");
  }
  complain("");
  if (response.status === 429 && tries > 0) {
    await new Promise((done) => setTimeout(done, 700));
    return ask(url, options, tries - 1);
  }
  return answer(response);
}

// What nobody else says.
addEventListener("unhandledrejection", (event) => {
  event.preventDefault();
  complain(event.reason?.message ?? String(event.reason));
});

export const get = (url) => ask(url);

export const post = (url, body) =>
  ask(url, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });

// A problem as the server tells it, with its place.
export const sentence = (problem) => (problem.line ? `line ${problem.line}, column ${problem.column}: ` : "") + problem.detail;

// An element with attributes and children; text is always text.
export function make(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === true) element.setAttribute(key, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(key, value);
  }
  element.append(...children);
  return element;
}

export const END = ".";
export const shown = (character) => (character === END ? "end" : character === "\n" ? "↵" : character === " " ? "␣" : character);
export const percent = (share) => `${(100 * share).toFixed(share > 0.9995 || share < 0.0005 ? 0 : 1)} %`;
