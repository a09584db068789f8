// The same program through several models, in rows.
import { get, make, post, sentence } from "./api.js";
import { answerRow } from "./printed.js";

const at = (id) => document.getElementById(id);
const MOST = 8;

export function startCompare(models, remember) {
  const boxes = models.map((model) => {
    const box = make("input", { type: "checkbox", value: model.id });
    at("compare-models").append(make("label", {}, box, ` ${model.name}`));
    box.addEventListener("change", keep);
    return box;
  });
  const chosen = () => models.filter((_, i) => boxes[i].checked).slice(0, MOST);

  function keep() {
    const settings = new URLSearchParams();
    settings.set("models", JSON.stringify(chosen().map((model) => model.id)));
    settings.set("input", at("compare-program").value);
    remember(settings);
  }

  async function random() {
    const model = chosen()[0] ?? models[0];
    if (!model) return;
    const asked = new URLSearchParams({ task: model.task, length: model.length, nesting: model.nesting });
    at("compare-program").value = (await get(`/api/sample?${asked}`)).input;
    await go();
  }

  let turn = 0; // answers to an older question are dropped
  async function go() {
    keep();
    const mine = ++turn;
    const input = at("compare-program").value;
    const rows = await Promise.all(chosen().map(async (model) => {
      const name = make("h2", {}, model.name);
      try {
        const { problem } = await post("/api/check", { input, task: model.task });
        if (problem) throw new Error(sentence(problem));
        const found = await post("/api/predict", { model: model.id, input });
        const verdict = make("p", { class: found.correct ? "good" : "bad" }, `prints ${found.prediction || "nothing"}${found.correct ? "" : `; the truth is ${found.target}`}`);
        return make("div", { class: "compared", "data-model": model.id }, name, verdict, answerRow(found));
      } catch (error) {
        return make("div", { class: "compared", "data-model": model.id }, name, make("p", { class: "bad" }, error.message));
      }
    }));
    if (mine !== turn) return;
    at("compare-rows").replaceChildren(...(rows.length ? rows : [make("p", { class: "note" }, "Choose at least one model.")]));
  }

  at("compare-random").addEventListener("click", random);
  at("compare-go").addEventListener("click", go);
  at("compare-program").addEventListener("input", keep);

  return {
    async enter(asked) {
      if (asked.has("models")) {
        let wanted = [];
        try { wanted = JSON.parse(asked.get("models")); } catch { /* a link that was cut off */ }
        boxes.forEach((box) => { box.checked = wanted.includes(box.value); });
        at("compare-program").value = (asked.get("input") ?? "").slice(0, 2000);
        if (at("compare-program").value) await go();
      } else if (!chosen().length) {
        const task = models[0]?.task; // a first choice: those that learned the same task
        boxes.forEach((box, i) => { box.checked = models[i].task === task && i < MOST; });
        await random();
      }
    },
  };
}
