// Which difficulties an adaptive strategy trained on, through time: a column per evaluation, darker for a larger share.
import { make, percent } from "./api.js";
import { short, svg } from "./charts.js";

const LEFT = 56, RIGHT = 12, TOP = 6, BOTTOM = 34;
const LEVELS = 12; // of darkness: one path each, so that thousands of cells are few elements
const NARROWEST = 3; // pixels of a column; evaluations closer together are averaged
const MOST = 200; // difficulties of a run, those with the largest shares

// Lines of metrics to columns [{ from, to, shares }], in characters; a share belongs to the time since the line before.
function columnsOf(lines) {
  const columns = [];
  let from = 0;
  for (const line of lines) {
    if (!(line.characters > from)) continue;
    if (Array.isArray(line.distribution) && line.distribution.length) {
      columns.push({ from, to: line.characters, shares: new Map(line.distribution.map(([length, nesting, share]) => [`${length}×${nesting}`, share])) });
    }
    from = line.characters;
  }
  return columns;
}

// Neighbours that end within the same few pixels become one column: the mean, weighted by characters.
function merged(columns, atX) {
  const wide = [];
  for (const { from, to, shares } of columns) {
    const place = Math.floor(atX(to) / NARROWEST), last = wide.at(-1);
    const joins = last?.place === place && last.to === from;
    const column = joins ? last : { from, place, sums: new Map() };
    if (!joins) wide.push(column);
    column.to = to;
    for (const [name, share] of shares) column.sums.set(name, (column.sums.get(name) ?? 0) + share * (to - from));
  }
  return wide.map(({ from, to, sums }) => ({ from, to, shares: new Map([...sums].map(([name, sum]) => [name, sum / (to - from)])) }));
}

// The difficulties of a run, the easiest first.
function difficultiesOf(columns) {
  const total = new Map();
  for (const { from, to, shares } of columns) for (const [name, share] of shares) total.set(name, (total.get(name) ?? 0) + share * (to - from));
  const names = [...total.keys()].sort((a, b) => total.get(b) - total.get(a)).slice(0, MOST);
  const numbers = (name) => name.split("×").map(Number);
  return names.sort((a, b) => numbers(a)[0] - numbers(b)[0] || numbers(a)[1] - numbers(b)[1]);
}

export function difficulties(run, lines, { log = false, width = 760 }) {
  const found = columnsOf(lines);
  if (!found.length) return null;
  const end = found.at(-1).to, first = log ? found[0].to / 2 : 0;
  const place = log ? Math.log10 : (x) => x;
  const atX = (x) => LEFT + ((place(Math.max(x, first)) - place(first)) / (place(end) - place(first))) * (width - LEFT - RIGHT);
  const columns = merged(found, atX);
  const names = difficultiesOf(columns);
  const step = Math.max(2, Math.min(20, 320 / names.length));
  const height = TOP + step * names.length + BOTTOM;
  const atY = (row) => TOP + step * (names.length - 1 - row); // the hardest on top
  const most = Math.max(...columns.flatMap(({ shares }) => [...shares.values()]));
  const level = (share) => Math.ceil((LEVELS * share) / most - 1e-9);
  const shade = (number) => (number / LEVELS).toFixed(3);
  const plain = names.every((name) => name.endsWith("×1"));
  const label = (name) => (plain ? name.slice(0, -2) : name);

  const last = [...columns.at(-1).shares].sort((a, b) => b[1] - a[1]).slice(0, 3).map(([name, share]) => `${label(name)} ${percent(share)}`).join(", ");
  const kind = plain ? "length" : "length×nesting";
  const title = `difficulties of the training samples (${kind}), ${run}`;
  const picture = svg("svg", { class: "difficulties", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `${title}; at the end mostly ${last}`, "data-rows": names.length, "data-columns": columns.length });
  picture.append(svg("rect", { class: "field", x: LEFT, y: TOP, width: width - LEFT - RIGHT, height: step * names.length }));
  const paths = Array.from({ length: LEVELS + 1 }, () => []);
  names.forEach((name, row) => {
    let run = null; // neighbours of one darkness are one rectangle
    const flush = () => { if (run?.level) paths[run.level].push(`M${run.from.toFixed(1)},${atY(row).toFixed(1)}H${run.to.toFixed(1)}v${step.toFixed(1)}H${run.from.toFixed(1)}z`); };
    for (const { from, to, shares } of columns) {
      const now = { level: level(shares.get(name) ?? 0), from: atX(from), to: atX(to) };
      if (run && run.level === now.level && run.to === now.from) run.to = now.to;
      else { flush(); run = now; }
    }
    flush();
  });
  paths.forEach((parts, number) => { if (parts.length) picture.append(svg("path", { class: "share", "fill-opacity": shade(number), d: parts.join("") })); });
  const every = Math.ceil(14 / step); // labels that do not touch
  names.forEach((name, row) => { if (row % every === 0) picture.append(svg("text", { x: LEFT - 6, y: atY(row) + step / 2 + 4, "text-anchor": "end" }, label(name))); });
  for (let i = 0; i <= 4; i++) {
    const x = log ? 10 ** (place(first) + ((place(end) - place(first)) * i) / 4) : (end * i) / 4;
    picture.append(svg("text", { x: LEFT + ((width - LEFT - RIGHT) * i) / 4, y: height - 16, "text-anchor": i === 4 ? "end" : "middle" }, short(x)));
  }
  picture.append(svg("text", { x: width - RIGHT, y: height - 2, "text-anchor": "end" }, "characters"));

  const key = svg("svg", { class: "key shares", viewBox: `0 0 ${LEVELS * 8} 10`, "aria-hidden": "true" });
  for (let i = 0; i < LEVELS; i++) key.append(svg("rect", { class: "share", "fill-opacity": shade(i + 1), x: i * 8, y: 0, width: 8, height: 10 }));
  const resting = `At the end mostly ${last}.`;
  const readout = make("span", { class: "readout" }, resting);
  picture.addEventListener("pointermove", (event) => {
    const box = picture.getBoundingClientRect();
    const x = ((event.clientX - box.left) / box.width) * width, y = ((event.clientY - box.top) / box.height) * height;
    const column = columns.find(({ from, to }) => atX(from) <= x && x < atX(to)), name = names[names.length - 1 - Math.floor((y - TOP) / step)];
    readout.textContent = column && name ? `${short(column.to)} characters, ${kind} ${label(name)}: ${percent(column.shares.get(name) ?? 0)}` : resting;
  });
  picture.addEventListener("pointerleave", () => { readout.textContent = resting; });
  return make("figure", { class: "chart" }, make("figcaption", {}, title), picture, make("div", { class: "note" }, "0 % ", key, ` ${percent(most)} of the samples. `, readout));
}
