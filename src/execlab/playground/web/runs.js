// Run folders: learning curves that grow while a run is trained, the staircase of difficulty, the learning rate; grids.
import { complain, get, make, percent } from "./api.js";
import { chart, heat } from "./charts.js";
import { difficulties } from "./difficulties.js";

const at = (id) => document.getElementById(id);
const MOST = 6;
const LIVE = 4; // a browser has six connections to a server, and the rest of the page needs some

export function startRuns(remember) {
  const live = new Map(); // id: { source, lines }
  let listed = [];
  let turn = 0; // counts entering and leaving: what was asked for before is dropped
  let timer = null;
  let drawing = null;
  let took = 0; // milliseconds of the last drawing

  const chosen = () => listed.map((run) => run.id).filter((id) => live.has(id));

  function keep() {
    const settings = new URLSearchParams();
    if (live.size) settings.set("show", JSON.stringify(chosen()));
    settings.set("scale", at("runs-scale").value);
    remember(settings);
  }

  function follow(id) {
    if (live.has(id) || live.size >= MOST) return;
    live.set(id, { lines: [], source: null });
    next();
  }

  // Opens what waits for a connection, as long as there are some.
  function next() {
    for (const [id, followed] of live) {
      const open = [...live.values()].filter(({ source }) => source && source.readyState !== EventSource.CLOSED).length;
      if (open >= LIVE) return;
      if (!followed.source) connect(id, followed);
    }
  }

  function connect(id, followed) {
    followed.source = new EventSource(`/api/runs/${id.split("/").map(encodeURIComponent).join("/")}/metrics`);
    followed.source.addEventListener("metrics", (event) => { followed.lines.push(JSON.parse(event.data)); soon(); });
    followed.source.addEventListener("reset", () => { followed.lines = []; soon(); });
    followed.source.addEventListener("open", () => { followed.lines = []; }); // a new connection tells everything anew
    followed.source.addEventListener("error", () => {
      if (followed.source.readyState !== EventSource.CLOSED) return;
      complain(`The run ${id} cannot be followed now.`);
      next();
    });
    followed.source.addEventListener("end", () => { followed.source.close(); next(); });
  }

  function unfollow(id) {
    live.get(id)?.source?.close();
    live.delete(id);
    next();
  }

  // Draws what has arrived. Drawing long runs takes a while, and most of the time must be left for what still arrives.
  function soon() {
    drawing ??= setTimeout(() => requestAnimationFrame((begin) => {
      draw();
      took = performance.now() - begin;
      drawing = null;
    }), 4 * took);
  }

  function draw() {
    const series = chosen().map((id, i) => ({ name: id, colour: i, lines: live.get(id).lines }));
    const log = at("runs-scale").value === "log";
    const width = Math.max(at("runs-charts").clientWidth, 300);
    const panels = series.length ? [
      chart("accuracy at the goal, teacher-forced, validation", series, (line) => line.goal_teacher_forced_accuracy, { log, width, from: 0, to: 1, say: percent, key: true }),
      chart("length of the current difficulty", series, (line) => line.length, { log, width, from: 0, stairs: true, height: 130 }),
      chart("nesting of the current difficulty", series.filter((one) => one.lines.some((line) => line.nesting > 1)), (line) => line.nesting, { log, width, from: 0, stairs: true, height: 110 }),
      ...series.map((one) => difficulties(one.name, one.lines, { log, width })),
      chart("learning rate", series, (line) => line.learning_rate, { log, width, from: 0, height: 130 }),
    ].filter(Boolean) : [make("p", { class: "note" }, "Choose up to six runs to see their curves.")];
    at("runs-charts").replaceChildren(...panels);
  }

  function list() {
    const legend = at("runs-list").querySelector("legend");
    const items = listed.map((run) => {
      const box = make("input", { type: "checkbox", value: run.id, checked: live.has(run.id), disabled: Boolean(run.problem) });
      box.addEventListener("change", () => {
        if (box.checked) follow(run.id); else unfollow(run.id);
        box.checked = live.has(run.id);
        keep();
        draw();
      });
      const accuracy = run.teacher_forced_accuracy === null ? "" : `, ${percent(run.teacher_forced_accuracy)}`;
      const told = run.problem ? run.problem : `${run.task} ${run.length}×${run.nesting}, ${run.strategy}, seed ${run.seed}; ${run.samples.toLocaleString("en")} samples${accuracy}${run.finished ? "" : ", not finished"}`;
      return make("div", {}, make("label", {}, box, ` ${run.id}`), make("span", { class: `note${run.problem ? " bad" : ""}` }, told));
    });
    const focused = document.activeElement?.value;
    at("runs-list").replaceChildren(legend, ...items);
    if (focused) [...at("runs-list").querySelectorAll("input")].find((box) => box.value === focused)?.focus();
    at("runs-about").textContent = listed.length ? `${listed.length} run folders.` : "No runs here. Start the server with --runs and the folder that holds them.";
  }

  let asking = null;
  async function refresh() {
    asking ??= get("/api/runs").finally(() => { asking = null; });
    const found = await asking;
    const changed = JSON.stringify(found) !== JSON.stringify(listed);
    listed = found;
    if (changed) list();
  }

  addEventListener("resize", () => { if (live.size) soon(); });
  at("runs-scale").addEventListener("change", () => { keep(); draw(); });

  return {
    async enter(asked) {
      const mine = ++turn;
      if (["linear", "log"].includes(asked.get("scale"))) at("runs-scale").value = asked.get("scale");
      await refresh();
      if (mine !== turn) return;
      let wanted = [];
      try { wanted = JSON.parse(asked.get("show") ?? "[]"); } catch { /* a link that was cut off */ }
      for (const id of asked.has("show") ? [...live.keys()] : []) if (!wanted.includes(id)) unfollow(id);
      for (const id of wanted) if (listed.some((run) => run.id === id && !run.problem)) follow(id);
      if (!live.size && listed.length) {
        const first = listed.find((run) => !run.finished && !run.problem) ?? listed.find((run) => !run.problem);
        if (first) follow(first.id);
      }
      list();
      draw();
      const grids = await get("/api/grids");
      if (mine !== turn) return;
      at("runs-grids").replaceChildren(...grids.map(heat).filter(Boolean));
      clearInterval(timer);
      timer = setInterval(() => refresh().catch(() => {}), 3000);
    },
    leave() {
      turn += 1;
      clearInterval(timer);
      for (const id of [...live.keys()]) unfollow(id);
    },
  };
}
