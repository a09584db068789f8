// The playground: an editor, a tape that is read, memory that grows, output that appears.
import { END, get, make, post, sentence } from "./api.js";
import { card } from "./printed.js";
import { drawMemory } from "./memory.js";

const DELAYS = [800, 400, 200, 90, 35, 10]; // milliseconds per character
const PARTS = { h: "h, what each cell tells", c: "c, what each cell keeps" };
const at = (id) => document.getElementById(id);

export function startPlay(models, remember) {
  // `version` counts texts and models: an answer that comes after a change is dropped.
  const state = { model: null, film: null, filming: null, place: -1, timer: null, checked: null, alphabet: null, version: 0 };

  for (const model of models) at("play-model").append(make("option", { value: model.id }, model.name));
  const program = at("program");

  const settings = () => {
    const found = new URLSearchParams();
    found.set("model", state.model?.id ?? "");
    found.set("input", program.value);
    found.set("speed", at("play-speed").value);
    found.set("memory", at("play-memory").value);
    if (at("play-scramble").checked) found.set("scramble", "1");
    return found;
  };
  const keep = () => remember(settings());

  function choose(id) {
    state.model = models.find((model) => model.id === id) ?? models[0] ?? null;
    if (!state.model) {
      at("play-about").textContent = "There is no model yet: train one, and start the server with --runs.";
      return;
    }
    at("play-model").value = state.model.id;
    at("play-length").value = state.model.length;
    at("play-nesting").value = state.model.nesting;
    at("play-nesting").disabled = state.model.max_nesting === 1;
    at("play-about").textContent = about(state.model);
    at("play-scramble").disabled = state.model.scramble !== null; // it reads scrambled characters anyway
    forget();
  }

  // What was predicted belongs to another text or model.
  function forget() {
    pause();
    state.version += 1;
    state.film = state.filming = null;
    state.place = -1;
    at("tape").replaceChildren(make("span", { class: "ahead" }, look(program.value)));
    at("printed").replaceChildren(make("p", { class: "note" }, "Nothing yet: press Play."));
    at("memory").replaceChildren();
    at("moment").textContent = "";
    at("play-play").textContent = "Play";
    marks();
  }

  // Characters as they are shown: the scramble switch shows them as the network might as well have seen them.
  function look(text) {
    if (!at("play-scramble").checked || at("play-scramble").disabled || !state.alphabet) return text;
    const { vocabulary, scrambled } = state.alphabet;
    return [...text].map((c) => scrambled[vocabulary.indexOf(c)] ?? c).join("");
  }

  // Under the text: the error, or the character being read.
  function marks() {
    const text = program.value;
    const count = text.split("\n").length;
    const error = state.checked?.line;
    at("gutter").replaceChildren(...Array.from({ length: count }, (_, i) => (i + 1 === error ? make("b", {}, `${i + 1}\n`) : `${i + 1}\n`)));
    let where = -1;
    let kind = "";
    if (state.film && state.film.free.read === text && state.place >= 0 && state.place < text.length) {
      where = state.place;
      kind = "now";
    } else if (error) {
      const lines = text.split("\n");
      where = lines.slice(0, error - 1).reduce((sum, line) => sum + line.length + 1, 0) + (state.checked.column ?? 1) - 1;
    }
    const backdrop = at("backdrop");
    if (where < 0) backdrop.replaceChildren(text);
    else {
      const marked = text[where] === undefined || text[where] === "\n" ? " " : text[where];
      backdrop.replaceChildren(text.slice(0, where), make("mark", { class: kind }, marked), text.slice(marked === " " && text[where] !== " " ? where : where + 1));
    }
    backdrop.scrollTop = program.scrollTop;
    backdrop.scrollLeft = program.scrollLeft;
  }

  async function check() {
    const { version } = state;
    const asked = { input: program.value, task: state.model?.task ?? "program" };
    const { executed, problem } = await post("/api/check", asked).catch((error) => ({ problem: { detail: error.message } }));
    if (version !== state.version) return;
    state.checked = problem ?? { output: executed.output };
    at("verdict").className = problem ? "bad" : "good";
    if (problem) {
      at("verdict").textContent = sentence(problem);
      at("trace").replaceChildren();
    } else {
      const { output } = executed;
      at("verdict").textContent = `prints ${output.length > 60 ? `${output.slice(0, 60)}…` : output}`;
      showTrace(executed);
    }
    marks();
  }

  function showTrace(found) {
    if (!found.trace.length) {
      at("trace").replaceChildren(make("p", { class: "note" }, "There are no variables here."));
      return;
    }
    const names = [...new Set(found.trace.flatMap((step) => Object.keys(step.variables)))];
    const head = make("tr", {}, make("th", { scope: "col" }, "line"), ...names.map((name) => make("th", { scope: "col" }, name)));
    let before = {};
    const rows = found.trace.map((step) => {
      const cells = names.map((name) => make("td", { class: before[name] === step.variables[name] ? "" : "changed" }, step.variables[name] ?? ""));
      before = step.variables;
      return make("tr", {}, make("th", { scope: "row" }, String(step.line)), ...cells);
    });
    const table = make("table", {}, make("thead", {}, head), make("tbody", {}, ...rows));
    at("trace").replaceChildren(names.length ? table : make("p", { class: "note" }, "No variables."));
    if (found.truncated) at("trace").append(make("p", { class: "note" }, "… and more steps"));
  }

  // The prediction, asked for once; whether there is one for what is shown now.
  function film() {
    if (state.film) return true;
    state.filming ??= load();
    return state.filming;
  }

  async function load() {
    const { version } = state;
    if (!state.checked) await check();
    if (version !== state.version) return false;
    if (state.checked?.detail) {
      state.filming = null;
      at("moment").className = "bad";
      at("moment").textContent = "The program has a mistake; mend it first.";
      return false;
    }
    const question = { model: state.model.id, input: program.value };
    try {
      const [free, forced] = await Promise.all([
        post("/api/predict", { ...question, states: true }), post("/api/predict", { ...question, teacher_forced: true })]);
      if (version !== state.version) return false;
      state.film = { free, forced, reading: free.read.length + 1, total: free.read.length + Math.max(free.characters.length, forced.characters.length) };
      state.place = -1;
      prepare();
      return true;
    } catch (error) {
      if (version !== state.version) return false;
      state.filming = null;
      at("moment").className = "bad";
      at("moment").textContent = `The network cannot read this: ${error.message}`;
      return false;
    }
  }

  function prepare() {
    const ways = [["free-running", "each character follows the network's own"], ["teacher-forced", "each follows the correct ones"]];
    const boxes = ways.map(([name, text]) => make("div", { class: "way", "data-way": name },
      make("h3", {}, `${name}: ${text}`), make("ol", { class: "digits", "aria-label": `${name} output` })));
    const outside = state.film.free.outside;
    at("printed").replaceChildren(...(outside ? [make("p", { class: "note" }, `Harder than it was trained for: ${outside}.`)] : []), ...boxes);
    draw();
  }

  // The parts that this model lets see, as choices; the chosen one stays if it is among them.
  function offerParts(names) {
    const select = at("play-memory");
    if ([...select.options].map((one) => one.value).join() === names.join()) return;
    const chosen = select.value;
    select.replaceChildren(...names.map((name) => make("option", { value: name }, PARTS[name] ?? name)));
    select.value = names.includes(chosen) ? chosen : names[0];
  }

  function draw() {
    const { free, forced, reading } = state.film;
    const place = state.place;
    const read = look(free.read) + END;
    const piece = (from, to, kind) => make("span", { class: kind }, read.slice(from, to).replaceAll("\n", "↵\n"));
    const tape = [piece(0, Math.max(place, 0), "read")];
    if (place >= 0 && place < read.length) tape.push(make("span", { class: "now" }, read[place] === "\n" ? "↵" : read[place]), read[place] === "\n" ? "\n" : "");
    tape.push(piece(Math.max(place, -1) + 1, read.length, "ahead"));
    at("tape").replaceChildren(...tape);
    const now = at("tape").querySelector(".now");
    if (now) { // scroll the tape, never the page
      const box = at("tape");
      box.scrollTop = Math.max(now.offsetTop - box.offsetTop - box.clientHeight / 2, 0);
      box.scrollLeft = Math.max(now.offsetLeft - box.offsetLeft - box.clientWidth * 0.8, 0);
    }
    const out = Math.max(place - reading + 2, 0); // characters printed so far
    for (const [name, answer] of [["free-running", free], ["teacher-forced", forced]]) {
      const list = at("printed").querySelector(`[data-way=${name}] ol`);
      const wanted = answer.target + END;
      while (list.children.length > out) list.lastChild.remove();
      for (let i = list.children.length; i < Math.min(out, answer.characters.length); i++) list.append(card(answer.characters[i], wanted[i], look));
    }
    offerParts(Object.keys(free.states.activations));
    drawMemory(at("memory"), free.states, at("play-memory").value, place, look);
    const over = place >= state.film.total - 1;
    if (place < 0) at("moment").textContent = `${read.length} characters to read; the last one is the end mark.`;
    else if (place < reading - 1) at("moment").textContent = `reading character ${place + 1} of ${reading}`;
    else if (!over) at("moment").textContent = `printing character ${out}`;
    else at("moment").textContent = `It printed ${look(free.prediction)}, and that is ${free.correct ? "right" : `wrong: the truth is ${look(free.target)}`}.`;
    at("moment").setAttribute("aria-live", over || !state.timer ? "polite" : "off"); // not a hundred times a second
    at("moment").className = over ? (free.correct ? "good" : "bad") : "note";
    marks();
  }

  function pause() {
    clearTimeout(state.timer);
    state.timer = null;
    state.playing = false;
    at("play-play").textContent = "Play";
  }

  async function step() {
    if (!(await film())) return false;
    if (state.place >= state.film.total - 1) return false;
    state.place += 1;
    draw();
    return true;
  }

  let presses = 0; // of Play: an earlier one that still waits for its answer is dropped
  async function play() {
    const mine = ++presses;
    if (state.playing) return pause();
    state.playing = true;
    at("play-play").textContent = "Pause";
    const ready = await film();
    if (mine !== presses) return undefined;
    if (!ready) return pause();
    if (!state.playing) return undefined;
    if (state.place >= state.film.total - 1) { state.place = -1; prepare(); }
    const tick = async () => {
      if (!state.playing || mine !== presses) return undefined;
      const more = await step();
      if (mine !== presses) return undefined;
      if (!more) return pause();
      if (!state.playing) return undefined;
      state.timer = setTimeout(tick, DELAYS[at("play-speed").value]);
      return undefined;
    };
    state.timer = setTimeout(tick, 0);
    return undefined;
  }

  async function random() {
    const { model, version } = state;
    at("verdict").className = "";
    at("verdict").textContent = "drawing…";
    const asked = new URLSearchParams({ task: model.task, length: at("play-length").value, nesting: model.max_nesting === 1 ? 1 : at("play-nesting").value });
    try {
      const { input } = await get(`/api/sample?${asked}`);
      if (version !== state.version) return; // somebody typed meanwhile
      program.value = input;
    } catch (error) {
      at("verdict").className = "bad";
      at("verdict").textContent = error.message;
      return;
    }
    edited();
  }

  let waiting = null;
  function edited() {
    state.checked = null;
    at("verdict").className = "";
    at("verdict").textContent = "checking…";
    forget();
    keep();
    clearTimeout(waiting);
    waiting = setTimeout(check, 120);
  }

  program.addEventListener("input", edited);
  program.addEventListener("scroll", marks);
  at("play-model").addEventListener("change", async (event) => {
    const before = state.model?.task;
    choose(event.target.value);
    if (before !== state.model?.task) await random();
    else edited();
  });
  at("play-random").addEventListener("click", random);
  at("play-play").addEventListener("click", play);
  at("play-step").addEventListener("click", () => { pause(); step(); });
  at("play-back").addEventListener("click", () => { pause(); if (state.film) { state.place = -1; prepare(); } });
  at("play-end").addEventListener("click", async () => {
    pause();
    if (await film()) { state.place = state.film.total - 1; draw(); }
  });
  at("play-speed").addEventListener("change", keep);
  at("play-memory").addEventListener("change", () => { keep(); if (state.film) draw(); });
  at("play-scramble").addEventListener("change", () => {
    keep();
    if (state.film) prepare(); else forget();
  });
  addEventListener("theme", () => { if (state.film) draw(); });
  at("play-share").addEventListener("click", async () => {
    keep();
    await navigator.clipboard?.writeText(location.href).catch(() => {});
    at("play-share").textContent = "Link is in the address bar";
    setTimeout(() => { at("play-share").textContent = "Copy link"; }, 2000);
  });

  return {
    async enter(asked) {
      if (asked.has("speed")) at("play-speed").value = asked.get("speed");
      if (["h", "c"].includes(asked.get("memory"))) at("play-memory").value = asked.get("memory");
      if (asked.size) at("play-scramble").checked = asked.get("scramble") === "1";
      if (!state.alphabet) state.alphabet = await get("/api/alphabet?seed=1");
      if (asked.has("model") || !state.model) choose(asked.get("model"));
      if (asked.has("input")) { program.value = asked.get("input").slice(0, 2000); state.checked = null; forget(); await check(); }
      else if (!program.value && state.model) await random();
    },
    leave: pause,
  };
}

export function about(model) {
  const score = model.accuracies.exact_match;
  const forced = model.accuracies.teacher_forced_accuracy;
  const scores = score ? `whole outputs right on ${(100 * score.value).toFixed(1)} % of ${score.n.toLocaleString("en")} test samples of data version ${model.data_version} at its own difficulty (95 % interval ${(100 * score.low).toFixed(1)} to ${(100 * score.high).toFixed(1)}); characters, teacher-forced: ${(100 * forced.value).toFixed(1)} %` : "not scored yet";
  const change = model.modification ? `; its input is changed first: ${model.modification}` : "";
  return `${model.layers} layers of ${model.cells} cells, ${model.parameters.toLocaleString("en")} parameters, trained with ${model.strategy}${change}; ${scores}.`;
}
