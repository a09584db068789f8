"""The page in a real browser, as a person uses it; an error on its console or a request elsewhere fails a test."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import time
from math import exp
from typing import TYPE_CHECKING
from urllib.parse import quote

import httpx
import pytest
from axe_playwright_python.sync_playwright import Axe
from browser import browser, page
from playwright.sync_api import expect

from execlab.data.scramble import scramble
from execlab.tasks import Sample

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, Page
    from serving import Server

VIEWS = ("play", "compare", "challenge", "runs")
SUM = "print(1234+5678)"


@pytest.fixture(scope="module")
def chrome() -> Iterator[Browser]:
    with browser() as found:
        yield found


@pytest.fixture
def opened(chrome: Browser, server: Server) -> Iterator[Page]:
    with page(chrome, server.host) as found:
        found.goto(server.url)
        expect(found.locator("#verdict")).to_contain_text("prints")
        yield found


def choose(opened: Page, model: str) -> None:
    opened.select_option("#play-model", model)
    expect(opened.locator("#verdict")).to_have_class("good")


def test_mend_a_program_and_watch_it(opened: Page, server: Server) -> None:
    choose(opened, "program-2x1")
    opened.fill("#program", "a=12\nprint((a+b))")
    verdict = opened.locator("#verdict")
    expect(verdict).to_have_text("line 2, column 10: the variable 'b' has no value yet; assign to it first")
    expect(verdict).to_have_class("bad")
    expect(opened.locator("#gutter b")).to_have_text("2")
    expect(opened.locator("#backdrop mark")).to_have_text("b")
    opened.click("#play-play")
    expect(opened.locator("#moment")).to_have_text("The program has a mistake; mend it first.")
    opened.fill("#program", "a=12;\nprint((a+34))")
    expect(verdict).to_have_text("prints 46")
    expect(opened.locator("#trace tbody tr").first).to_contain_text("12")
    opened.locator("#play-speed").fill("4")
    opened.click("#play-step")
    opened.click("#play-step")
    expect(opened.locator("#tape .now")).to_have_text("=")
    expect(opened.locator("#backdrop mark.now")).to_have_text("=")
    opened.click("#play-play")
    expect(opened.locator("#play-play")).to_have_text("Pause")
    expect(opened.locator("#moment")).to_contain_text("It printed ", timeout=30_000)
    question = {"model": "program-2x1", "input": "a=12;\nprint((a+34))"}
    found = httpx.post(f"{server.url}/api/predict", json=question).json()
    said = opened.locator("[data-way=free-running] .digit .what").all_inner_texts()
    assert said == ["end" if one["character"] == "." else one["character"] for one in found["characters"]]
    expect(opened.locator("[data-way=teacher-forced] .digit")).to_have_count(3)
    expect(opened.locator("#memory canvas")).to_have_count(2)
    painted = "c => { const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data; return d.some(v => v) }"
    assert opened.locator("#memory canvas").first.evaluate(painted)
    wide = opened.locator("#memory canvas").first.evaluate("c => c.width")
    assert wide == len(question["input"]) + len(found["characters"])


def test_an_edit_ends_what_is_played(opened: Page) -> None:
    choose(opened, "addition-4-combined")
    opened.fill("#program", SUM)
    opened.locator("#play-play").dblclick()  # play and pause
    expect(opened.locator("#play-play")).to_have_text("Play")
    opened.click("#play-play")
    expect(opened.locator("#tape .now")).to_be_visible()
    opened.fill("#program", "print(1000+1000)")
    expect(opened.locator("#verdict")).to_have_text("prints 2000")
    expect(opened.locator("#tape .now")).to_have_count(0)
    expect(opened.locator("#printed")).to_have_text("Nothing yet: press Play.")
    opened.click("#play-end")
    expect(opened.locator("#moment")).to_contain_text("It printed")
    expect(opened.locator("#tape")).to_have_text("print(1000+1000).")


def test_a_random_program(opened: Page) -> None:
    choose(opened, "program-2x1")
    seen = set()
    for _ in range(3):
        opened.click("#play-random")
        expect(opened.locator("#verdict")).to_have_class("good")
        seen.add(opened.input_value("#program"))
    assert len(seen) > 1
    opened.fill("#play-length", "3")
    opened.fill("#play-nesting", "4")
    opened.click("#play-random")
    expect(opened.locator("#program")).to_have_value(re.compile(r"\d{3}"))
    choose(opened, "memorization-20")
    expect(opened.locator("#program")).to_have_value(re.compile(r"^\d{20}$"))
    opened.click("#play-end")
    expect(opened.locator("#tape")).to_contain_text(opened.input_value("#program")[::-1])  # it reads them inverted


def test_scramble_shows_what_the_network_might_see(opened: Page) -> None:
    choose(opened, "addition-4-combined")
    opened.fill("#program", SUM)
    opened.check("#play-scramble")
    opened.click("#play-end")
    expect(opened.locator("#tape")).to_have_text(scramble(1, Sample(SUM, "")).input + ".")
    opened.uncheck("#play-scramble")
    expect(opened.locator("#tape")).to_have_text(SUM + ".")


def test_a_link_restores_everything(opened: Page, chrome: Browser, server: Server) -> None:
    choose(opened, "addition-4-mix")
    opened.fill("#program", SUM)
    opened.locator("#play-speed").fill("5")
    opened.locator("#play-speed").dispatch_event("change")
    opened.select_option("#play-memory", "c")
    opened.check("#play-scramble")
    opened.click("#play-share")
    link = opened.url
    with page(chrome, server.host) as other:
        other.goto(link)
        expect(other.locator("#program")).to_have_value(SUM)
        expect(other.locator("#play-model")).to_have_value("addition-4-mix")
        expect(other.locator("#play-speed")).to_have_value("5")
        expect(other.locator("#play-memory")).to_have_value("c")
        expect(other.locator("#play-scramble")).to_be_checked()
        expect(other.locator("#verdict")).to_have_text("prints 6912")


def test_compare(opened: Page) -> None:
    opened.click("[data-view=compare]")
    for strategy in ("baseline", "naive", "mix", "combined"):
        expect(opened.locator(f"[data-model=addition-4-{strategy}] .digit").first).to_be_visible()
    opened.fill("#compare-program", SUM)
    opened.click("#compare-go")
    expect(opened.locator("[data-model=addition-4-combined] p")).to_contain_text("prints 6912")
    opened.fill("#compare-program", "print(")
    opened.click("#compare-go")
    expect(opened.locator("[data-model=addition-4-combined] p")).to_contain_text("line 1, column ")


def test_challenge(chrome: Browser, server: Server) -> None:
    with page(chrome, server.host) as opened:
        opened.clock.install()
        opened.goto(f"{server.url}/#challenge")
        opened.select_option("#challenge-model", "addition-4-combined")
        opened.click("#challenge-start")
        for number in range(10):
            expect(opened.locator("#challenge-score")).to_contain_text(f"Round {number + 1} of 10")
            program = opened.locator("#challenge-program").inner_text()
            if number == 3:
                opened.clock.fast_forward(31_000)
            else:
                truth = httpx.post(f"{server.url}/api/execute", json={"input": program}).json()["output"]
                opened.fill("#challenge-guess", truth if number != 4 else "1")
                opened.press("#challenge-guess", "Enter")
            expect(opened.locator("#challenge-log li")).to_have_count(number + 1)
            opened.clock.fast_forward(2_600)
        expect(opened.locator("#challenge-score")).to_contain_text(re.compile(r"You 8, the network \d+, of 10\."))
        expect(opened.locator("#challenge-log li").nth(3)).to_contain_text("your time was up")
        expect(opened.locator("#challenge-log li").nth(4)).to_contain_text("you said 1")


def test_runs_grow_while_one_is_trained(opened: Page, server: Server) -> None:
    words = [sys.executable, "-m", "execlab", "train", "--preset", "smoke", "--steps", "1000000", "--out"]
    process = subprocess.Popen([*words, str(server.runs / "growing")], stderr=subprocess.DEVNULL)
    try:
        opened.click("[data-view=runs]")
        box = opened.locator("#runs-list input[value=growing]")
        expect(box).to_be_visible(timeout=60_000)
        for other in opened.locator("#runs-list input:checked").all():
            other.uncheck()
        box.check()
        opened.locator("#runs-list input[value=finished]").check()
        line = opened.locator("#runs-charts figure").first.locator("path.line")
        points = "paths => Math.max(...paths.map(path => Number(path.dataset.points)))"
        expect(line).to_have_count(2)
        before = line.evaluate_all(points)
        opened.wait_for_function(
            "before => [...document.querySelectorAll('path.line')].some(one => one.dataset.points > before + 5)",
            arg=before,
            timeout=60_000,
        )
        opened.select_option("#runs-scale", "log")
        expect(opened.locator("#runs-charts figure")).to_have_count(3)  # accuracy, length, learning rate
        expect(opened.locator("#runs-list")).to_contain_text("it is not JSON")
        expect(opened.locator(".heat td")).to_have_text("50.0 %")
    finally:
        process.kill()
        process.wait()
        shutil.rmtree(server.runs / "growing")  # whoever follows it would wait for ever


def test_a_link_shows_six_runs(opened: Page, server: Server) -> None:
    """More than the connections that are opened at once: each finished one makes room for the next."""
    names = [f"copy-{i}" for i in range(6)]
    try:
        for name in names:
            shutil.copytree(server.runs / "finished", server.runs / name)
        time.sleep(1.1)  # a walk through the folders is remembered for a second
        opened.goto(f"{server.url}/#runs?show={quote(json.dumps(names))}")
        opened.reload()
        expect(opened.locator("#runs-charts figure").first.locator("path.line")).to_have_count(6)
    finally:
        for name in names:
            shutil.rmtree(server.runs / name, ignore_errors=True)


def adaptive_metrics(evaluations: int, lengths: int, nestings: int) -> str:
    """Made-up metrics of a strategy whose training samples become longer and deeper."""
    lines = []
    for i in range(1, evaluations + 1):
        middle = lengths * i / evaluations
        weights = {
            (length, nesting): exp(-((length - middle) ** 2) / 2 - abs(nesting - nestings * i / evaluations))
            for length in range(1, lengths + 1)
            for nesting in range(1, nestings + 1)
        }
        total = sum(weights.values())
        shares = [[*difficulty, weight / total] for difficulty, weight in weights.items() if weight > 0.01 * total]
        line = {"step": 10 * i, "samples": 320 * i, "characters": 9_000 * i + 10 * i * i, "distribution": shares}
        lines.append(line | {"length": lengths, "nesting": nestings, "learning_rate": 0.002, "loss": 1.0})
        for accuracy in ("current_teacher_forced_accuracy", "goal_teacher_forced_accuracy"):
            lines[-1][accuracy] = 1 - 0.6 * exp(-i / evaluations * 3)
    lines[0]["distribution"] = [None, [1, 1, "much"]]  # malformed: the chart starts one evaluation later
    return "".join(json.dumps(line) + "\n" for line in lines)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_difficulties_of_an_adaptive_run(chrome: Browser, server: Server, tmp_path: Path, scheme: str) -> None:
    made = {"adaptive-sums": (120, 6, 1), "adaptive-programs": (40, 5, 3), "adaptive-huge": (3_000, 30, 7)}
    try:
        for name, (evaluations, lengths, nestings) in made.items():
            shutil.copytree(server.runs / "finished", server.runs / name)
            (server.runs / name / "metrics.jsonl").write_text(adaptive_metrics(evaluations, lengths, nestings))
        time.sleep(1.1)  # a walk through the folders is remembered for a second
        with page(chrome, server.host, color_scheme=scheme) as opened:
            opened.goto(f"{server.url}/#runs?show={quote(json.dumps(['finished', *made]))}")
            charts = opened.locator("svg.difficulties")
            expect(charts).to_have_count(3)  # none for the run without a distribution
            sums = opened.get_by_role("img", name="adaptive-sums; at the end mostly 6 ")
            expect(sums).to_have_attribute("data-columns", "119")
            expect(sums).to_have_attribute("data-rows", "6")
            expect(opened.get_by_role("img", name="adaptive-programs; at the end mostly 5×")).to_be_visible()
            huge = opened.get_by_role("img", name="adaptive-huge; at the end mostly 30×")
            expect(huge).to_have_attribute("data-rows", re.compile(r"\d{2,3}"), timeout=15_000)
            assert 6 <= huge.locator("path.share").count() <= 12  # a path per darkness
            assert int(huge.get_attribute("data-rows") or 0) <= 200
            assert int(huge.get_attribute("data-columns") or 0) < 500  # of 2,999 evaluations
            sums.scroll_into_view_if_needed()
            box = sums.bounding_box()
            assert box
            opened.mouse.move(box["x"] + 0.97 * box["width"], box["y"] + 12)
            readout = opened.locator("figure", has=sums).locator(".readout")
            expect(readout).to_have_text(re.compile(r"characters, length 6: \d+\.\d %"))
            opened.mouse.move(0, 0)
            expect(readout).to_contain_text("At the end mostly 6 ")
            opened.screenshot(path=tmp_path / "linear.png", full_page=True)
            opened.select_option("#runs-scale", "log")
            expect(charts).to_have_count(3)
            opened.screenshot(path=tmp_path / "log.png", full_page=True)
            found = Axe().run(opened, options={"resultTypes": ["violations"]}).response["violations"]
            assert [one["id"] for one in found if one["impact"] in ("serious", "critical")] == []
    finally:
        for name in made:
            shutil.rmtree(server.runs / name, ignore_errors=True)


def test_the_keyboard_suffices(opened: Page) -> None:
    opened.focus("#play-model")
    choose(opened, "addition-4-combined")
    opened.focus("#program")
    opened.keyboard.press("Control+A")
    opened.keyboard.type("print(1000+2000)")
    expect(opened.locator("#verdict")).to_have_text("prints 3000")
    opened.focus("#play-end")
    opened.keyboard.press("Enter")
    expect(opened.locator("#moment")).to_contain_text("It printed")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_every_view_is_accessible_and_fits(
    chrome: Browser, server: Server, tmp_path: Path, scheme: str, width: int
) -> None:
    size = {"width": width, "height": 900}
    with page(chrome, server.host, color_scheme=scheme, viewport=size, reduced_motion="reduce") as opened:
        opened.goto(server.url)
        expect(opened.locator("#verdict")).to_have_class("good")
        opened.click("#play-end")
        expect(opened.locator("#moment")).to_contain_text("It printed")
        for view in VIEWS:
            opened.click(f"[data-view={view}]")
            expect(opened.locator(f"#{view}")).to_be_visible()
            if view == "compare":
                expect(opened.locator(".compared").first).to_be_visible()
            if view == "challenge":
                opened.click("#challenge-start")
                expect(opened.locator("#challenge-score")).to_contain_text("Round 1")
            if view == "runs":
                expect(opened.locator("#runs-charts figure").first).to_be_visible()
            found = Axe().run(opened, options={"resultTypes": ["violations"]}).response["violations"]
            serious = [
                (one["id"], one["nodes"][0]["html"]) for one in found if one["impact"] in ("serious", "critical")
            ]
            assert serious == [], view
            across = opened.evaluate("[document.documentElement.scrollWidth, window.innerWidth]")
            assert across[0] <= across[1], view
            opened.screenshot(path=tmp_path / f"{view}.png", full_page=True)
