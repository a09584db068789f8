// What a model lets see of every layer, as a heat map: a column per character that was read, a line per unit.
import { make, shown } from "./api.js";

function colour(value, theme) {
  const size = Math.min(Math.abs(value), 1) ** 0.7;
  const ground = theme === "dark" ? [27, 33, 41] : [255, 255, 255];
  const full = value < 0 ? (theme === "dark" ? [127, 178, 232] : [33, 102, 172]) : theme === "dark" ? [240, 163, 94] : [179, 88, 6];
  return ground.map((from, i) => Math.round(from + (full[i] - from) * size));
}

export function drawMemory(box, states, part, place, look) {
  const layers = states.activations[part];
  const columns = states.characters.length;
  while (box.children.length > 2 * layers.length) box.lastChild.remove();
  layers.forEach((steps, layer) => {
    if (box.children.length <= 2 * layer) box.append(make("p", { class: "note" }, `layer ${layer + 1}`), make("canvas", { role: "img" }));
    const canvas = box.children[2 * layer + 1];
    const cells = steps[0].length;
    if (canvas.width !== columns || canvas.height !== cells) Object.assign(canvas, { width: columns, height: cells });
    const last = Math.min(place, columns - 1);
    canvas.setAttribute("aria-label", `${part} of layer ${layer + 1}: ${cells} cells after ${Math.max(last + 1, 0)} of ${columns} characters${last >= 0 ? `; the last was ${shown(look(states.characters[last]))}` : ""}`);
    const context = canvas.getContext("2d");
    context.clearRect(0, 0, columns, cells);
    if (last < 0) return;
    const scale = part === "h" ? 1 : 3; // only h is bounded
    const theme = document.documentElement.dataset.theme;
    const image = context.createImageData(last + 1, cells);
    for (let x = 0; x <= last; x++) {
      for (let y = 0; y < cells; y++) {
        const [r, g, b] = colour(steps[x][y] / scale, theme);
        image.data.set([r, g, b, 255], 4 * (y * (last + 1) + x));
      }
    }
    context.putImageData(image, 0, 0);
  });
}
