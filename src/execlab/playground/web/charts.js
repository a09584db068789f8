// Lines and heat maps as SVG and tables; every line has a colour and a dash of its own.
import { make, percent } from "./api.js";

const NS = "http://www.w3.org/2000/svg";
const LEFT = 56, RIGHT = 12, TOP = 10, BOTTOM = 34;

export function svg(name, attributes, text) {
  const element = document.createElementNS(NS, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (text !== undefined) element.textContent = text;
  return element;
}

export const short = (value) => (value >= 1e6 ? `${+(value / 1e6).toFixed(1)} M` : value >= 1000 ? `${+(value / 1000).toFixed(1)} k` : String(+value.toPrecision(2)));

export function chart(title, series, value, { log = false, from, to, stairs = false, height = 240, width = 760, say = short, key = false }) {
  const points = series.map((one) => ({ ...one, points: one.lines.map((line) => [line.samples, value(line)]).filter(([x, y]) => Number.isFinite(x) && Number.isFinite(y) && (!log || x > 0)) }));
  const all = points.flatMap((one) => one.points);
  if (!all.length) return key ? make("p", { class: "note" }, "No evaluation yet.") : null;
  const xs = all.map(([x]) => x), ys = all.map(([, y]) => y);
  const place = log ? Math.log10 : (x) => x;
  const x0 = log ? place(Math.min(...xs)) : 0, x1 = Math.max(place(Math.max(...xs)), x0 + 1e-9);
  const y0 = from ?? Math.min(...ys), y1 = to ?? Math.max(...ys, y0 + 1e-9) * 1.05;
  const atX = (x) => LEFT + ((place(x) - x0) / (x1 - x0)) * (width - LEFT - RIGHT);
  const atY = (y) => height - BOTTOM - ((y - y0) / (y1 - y0)) * (height - TOP - BOTTOM);
  const picture = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `${title}: ${points.map((one) => `${one.name} ${say(one.points.at(-1)?.[1] ?? 0)}`).join(", ")}` });
  const every = stairs ? Math.max(Math.ceil(y1 / 5), 1) : (y1 - y0) / 4; // a difficulty is a whole number
  for (let y = y0; y <= y1 + 1e-12; y += every) picture.append(svg("line", { class: "axis", x1: LEFT, x2: width - RIGHT, y1: atY(y), y2: atY(y) }), svg("text", { x: LEFT - 6, y: atY(y) + 4, "text-anchor": "end" }, say(y)));
  for (let i = 0; i <= 4; i++) {
    const x = log ? 10 ** (x0 + ((x1 - x0) * i) / 4) : x0 + ((x1 - x0) * i) / 4;
    picture.append(svg("text", { x: atX(x || 1e-9), y: height - 14, "text-anchor": i === 4 ? "end" : "middle" }, short(x)));
  }
  picture.append(svg("text", { x: width - RIGHT, y: height - 1, "text-anchor": "end" }, "samples"));
  for (const one of points) {
    const path = one.points.map(([x, y], i) => `${i ? (stairs ? `H${atX(x).toFixed(1)}V` : `L${atX(x).toFixed(1)},`) : `M${atX(x).toFixed(1)},`}${atY(y).toFixed(1)}`).join("");
    picture.append(svg("path", { class: `line c${one.colour} d${one.colour}`, d: path, "data-points": one.points.length }));
  }
  const box = make("figure", { class: "chart" }, make("figcaption", {}, title), picture);
  if (key) box.append(...points.map((one) => {
    const sign = svg("svg", { class: "key", viewBox: "0 0 26 8", "aria-hidden": "true" });
    sign.append(svg("line", { class: `line c${one.colour} d${one.colour}`, x1: 0, x2: 26, y1: 4, y2: 4 }));
    return make("div", { class: "note" }, sign, ` ${one.name}: ${say(one.points.at(-1)?.[1] ?? 0)}`);
  }));
  return box;
}

// A grid of runs: strategies by cells, the mean over seeds.
export function heat(grid) {
  const mean = new Map(), cells = new Set(), strategies = new Set();
  for (const row of grid.rows) {
    if (typeof row.teacher_forced_accuracy !== "number") continue;
    const cell = `${row.length}×${row.nesting}${row.modification ? ` ${row.modification}` : ""}${row.budget && row.budget !== "full" ? ` ${row.budget}` : ""}${row.scrambled ? " scrambled" : ""}${row.order === "nesting_first" ? " nesting first" : ""}`;
    cells.add(cell);
    strategies.add(row.strategy);
    const found = mean.get(`${row.strategy}|${cell}`) ?? [];
    mean.set(`${row.strategy}|${cell}`, [...found, row.teacher_forced_accuracy]);
  }
  if (!cells.size) return null;
  const head = make("tr", {}, make("th", { scope: "col" }, "strategy"), ...[...cells].map((cell) => make("th", { scope: "col" }, cell)));
  const body = [...strategies].map((strategy) => make("tr", {}, make("th", { scope: "row" }, strategy), ...[...cells].map((cell) => {
    const found = mean.get(`${strategy}|${cell}`);
    if (!found) return make("td", {}, "");
    const value = found.reduce((a, b) => a + b) / found.length;
    const box = make("td", { title: `${found.length} seeds` }, percent(value));
    box.style.background = `hsl(${48 - 10 * value} ${40 + 40 * value}% ${92 - 34 * value}%)`;
    return box;
  })));
  return make("section", { "aria-label": grid.id }, make("h2", {}, `Grid ${grid.id}: teacher-forced accuracy on test, mean over seeds (length×nesting)`),
    make("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": `Grid ${grid.id}` }, make("table", { class: "heat" }, make("thead", {}, head), make("tbody", {}, ...body))));
}
