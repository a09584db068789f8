// Ten programs: who is first to say what they print?
import { get, make, post } from "./api.js";

const at = (id) => document.getElementById(id);
const ROUNDS = 10;

export function startChallenge(models) {
  for (const model of models) at("challenge-model").append(make("option", { value: model.id }, model.name));
  const game = { turn: 0, seconds: 30, round: 0, you: 0, it: 0, sample: null, answer: null, began: 0, timer: null };

  function score() {
    at("challenge-score").textContent = game.round ? `Round ${Math.min(game.round, ROUNDS)} of ${ROUNDS}: you ${game.you}, the network ${game.it}` : "";
  }

  async function next() {
    if (game.round >= ROUNDS) return over();
    const mine = ++game.turn; // a game that was left or begun anew goes on elsewhere
    const model = models.find((one) => one.id === at("challenge-model").value);
    const asked = new URLSearchParams({ task: model.task, length: model.length, nesting: model.nesting });
    const sample = await get(`/api/sample?${asked}`);
    const answer = await post("/api/predict", { model: model.id, input: sample.input });
    if (mine !== game.turn) return undefined;
    Object.assign(game, { sample, answer, seconds: Math.min(Math.max(Number(at("challenge-seconds").value) || 30, 5), 120) });
    game.round += 1;
    game.began = performance.now();
    at("challenge-program").textContent = game.sample.input;
    at("challenge-guess").value = "";
    at("challenge-guess").disabled = false;
    at("challenge-guess").focus();
    at("challenge-verdict").textContent = "";
    score();
    clearInterval(game.timer);
    game.timer = setInterval(tick, 100);
    return undefined;
  }

  function tick() {
    const used = (performance.now() - game.began) / 1000 / game.seconds;
    at("challenge-clock").value = Math.min(used, 1);
    if (used >= 1) settle("");
  }

  // The round ends with an answer, or when the network has printed its own.
  function settle(guess) {
    if (!game.sample) return;
    clearInterval(game.timer);
    const { target } = game.sample;
    const right = guess === target;
    game.you += right;
    game.it += game.answer.correct;
    game.sample = null;
    at("challenge-guess").disabled = true;
    const you = guess ? (right ? "you are right" : `you said ${guess}`) : "your time was up";
    const it = game.answer.correct ? "the network is right" : `the network says ${game.answer.prediction || "nothing"}`;
    const sentence = `The truth is ${target}: ${you}, ${it}.`;
    at("challenge-verdict").textContent = sentence;
    at("challenge-verdict").className = right ? "good" : "bad";
    at("challenge-log").append(make("li", {}, sentence));
    score();
    game.timer = setTimeout(next, 2500);
  }

  function over() {
    const word = game.you > game.it ? "You win." : game.you < game.it ? "The network wins." : "A draw.";
    at("challenge-field").hidden = true;
    at("challenge-score").textContent = `${word} You ${game.you}, the network ${game.it}, of ${ROUNDS}.`;
    at("challenge-start").textContent = "Again";
    game.round = 0;
  }

  at("challenge-start").addEventListener("click", () => {
    clearInterval(game.timer);
    clearTimeout(game.timer);
    Object.assign(game, { round: 0, you: 0, it: 0, sample: null });
    at("challenge-log").replaceChildren();
    at("challenge-field").hidden = false;
    at("challenge-start").textContent = "Start anew";
    next();
  });
  at("challenge-form").addEventListener("submit", (event) => {
    event.preventDefault();
    if (game.sample && at("challenge-guess").value.trim()) settle(at("challenge-guess").value.trim());
  });

  return {
    enter() {
      at("challenge-start").disabled = !models.length;
    },
    leave() {
      clearInterval(game.timer);
      clearTimeout(game.timer);
      game.turn += 1;
      game.sample = null;
      at("challenge-field").hidden = true;
      at("challenge-start").textContent = "Start";
    },
  };
}
