// The output of a model: a card per character, with its probability among all symbols; right or wrong by colour and shape.
import { END, make, percent, shown } from "./api.js";

const SYMBOLS = [..."0123456789-", END];

function bars(found, look) {
  const shares = new Map([[found.character, found.probability], ...found.alternatives.map((a) => [a.character, a.probability])]);
  const others = [...shares].filter(([symbol]) => !SYMBOLS.includes(symbol));
  const box = make("div", { class: "bars" });
  const add = (label, share) => {
    const bar = make("i");
    bar.style.width = `${100 * share}%`;
    box.append(make("span", {}, label), bar);
  };
  for (const symbol of SYMBOLS) add(shown(look(symbol)), shares.get(symbol) ?? 0);
  add("…", others.reduce((sum, [, share]) => sum + share, 0));
  return [box, shares];
}

function everything(shares, look) {
  const rows = [...shares].sort((a, b) => b[1] - a[1]);
  const list = rows.map(([symbol, share]) => `${shown(look(symbol))} ${percent(share)}`).join(", ");
  return make("details", {}, make("summary", {}, `all ${rows.length}`), make("span", {}, list));
}

export function card(found, truth, look = (c) => c, compact = false) {
  const right = found.character === truth;
  const [box, shares] = bars(found, look);
  const said = make("div", { class: "said" }, make("span", { class: "what" }, shown(look(found.character))),
    make("span", { class: "sign", "aria-label": right ? "right" : "wrong" }, right ? "✓" : "✗"));
  said.lastChild.setAttribute("role", "img");
  const told = `${percent(found.probability)} sure`;
  const note = make("div", { class: "small" }, right ? told : `${told}; truth: ${truth === undefined ? "nothing" : shown(look(truth))}`);
  const item = make("li", { class: `digit ${right ? "right" : "wrong"}` }, said, note);
  if (!compact) item.append(box, everything(shares, look));
  return item;
}

// A whole answer in one row: used where there is no time to watch.
export function answerRow(predicted) {
  const list = make("ol", { class: "digits" });
  predicted.characters.forEach((found, i) => list.append(card(found, (predicted.target + END)[i], undefined, true)));
  return list;
}
