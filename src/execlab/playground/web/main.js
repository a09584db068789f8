// Which view is shown, and its settings: both stand behind the "#", so that a link carries them.
import { get } from "./api.js";
import { startPlay } from "./play.js";
import { startCompare } from "./compare.js";
import { startChallenge } from "./challenge.js";
import { startRuns } from "./runs.js";

const VIEWS = ["play", "compare", "challenge", "runs"];

export function readHash() {
  const [view, settings] = location.hash.slice(1).split("?");
  return { view: VIEWS.includes(view) ? view : "play", settings: new URLSearchParams(settings ?? "") };
}

function writeHash(view, settings) {
  if (readHash().view !== view) return; // an answer came after its view was left
  const text = settings.toString();
  history.replaceState(null, "", `#${view}${text ? `?${text}` : ""}`);
}

function theme(name) {
  document.documentElement.dataset.theme = name;
  const button = document.getElementById("theme");
  button.textContent = name === "dark" ? "Light" : "Dark";
  button.setAttribute("aria-label", `Use ${name === "dark" ? "light" : "dark"} colours`);
  dispatchEvent(new Event("theme"));
}

async function start() {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  theme(localStorage.getItem("theme") ?? (dark.matches ? "dark" : "light"));
  document.getElementById("theme").addEventListener("click", () => {
    const next = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
    localStorage.setItem("theme", next);
    theme(next);
  });
  const models = await get("/api/models");
  const views = {
    play: startPlay(models, (settings) => writeHash("play", settings)),
    compare: startCompare(models, (settings) => writeHash("compare", settings)),
    challenge: startChallenge(models),
    runs: startRuns((settings) => writeHash("runs", settings)),
  };
  let shown = "";
  const show = () => {
    const { view, settings } = readHash();
    if (shown && shown !== view) views[shown].leave?.();
    shown = view;
    for (const name of VIEWS) {
      document.getElementById(name).hidden = name !== view;
      const link = document.querySelector(`[data-view=${name}]`);
      if (name === view) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
    views[view].enter(settings);
  };
  document.querySelector(".skip").addEventListener("click", (event) => {
    event.preventDefault();
    document.querySelector("main").focus();
  });
  addEventListener("hashchange", show);
  show();
}

start();
