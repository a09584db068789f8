"""The playground's server at the paper's size: how long a prediction takes, and what 32 connections do to it.

    make setup && .venv/bin/python benchmarks/serve.py [SECONDS]

A model of two layers of 400 cells (untrained: the arithmetic is the same, and it prints more), programs of length 4
and nesting 3. Prints the 95th percentile with one client; then 32 clients for 30 seconds: answers, refusals, errors,
how the server's memory grew, and how long the page took meanwhile. Last, a browser: first paint and weight of the page.
"""

from __future__ import annotations

import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import httpx
from playwright.sync_api import Response, sync_playwright

from execlab.data.sampling import Source
from execlab.tasks import Difficulty
from execlab.tasks.program import ProgramTask
from execlab.training.config import make_config
from execlab.training.loop import train

CLIENTS = 32
QUESTIONS = 200


def percentile(values: list[float], share: float) -> float:
    return sorted(values)[min(int(share * len(values)), len(values) - 1)]


def resident(process: int) -> int:
    """Bytes in memory."""
    fields = Path(f"/proc/{process}/status").read_text().split("VmRSS:")[1].split()
    return int(fields[0]) * 1024


def ask(client: httpx.Client, url: str, program: str, *, states: bool = False) -> tuple[int, float]:
    begin = time.perf_counter()
    question = {"model": "paper", "input": program, "states": states}
    found = client.post(f"{url}/api/predict", json=question, timeout=60)
    return found.status_code, time.perf_counter() - begin


def one_client(url: str, programs: list[str]) -> None:
    with httpx.Client() as client:
        ask(client, url, programs[0])  # loads the model
        for states in (False, True):
            answers = [ask(client, url, program, states=states) for program in programs]
            assert all(code == 200 for code, _ in answers), "only good answers are timed"
            taken = [seconds * 1000 for _, seconds in answers]
            what = "with states" if states else "predict"
            print(
                f"{what}, one client: median {statistics.median(taken):.0f} ms, 95th percentile "
                f"{percentile(taken, 0.95):.0f} ms of {len(taken)}" + (" (bar 150)" if not states else ""),
                flush=True,
            )


def load(url: str, programs: list[str], seconds: float, process: int) -> None:
    codes, pages = dict[int, int](), list[float]()
    end = time.monotonic() + seconds
    before = resident(process)
    lock = threading.Lock()

    def worker(number: int) -> None:
        turn = number
        with httpx.Client() as client:
            while time.monotonic() < end:
                try:
                    code = ask(client, url, programs[turn % len(programs)])[0]
                except httpx.HTTPError:
                    code = 0
                turn += 1
                with lock:
                    codes[code] = codes.get(code, 0) + 1
                if code == 429:
                    time.sleep(0.05)

    threads = [threading.Thread(target=worker, args=(number,)) for number in range(CLIENTS)]
    for thread in threads:
        thread.start()
    with httpx.Client() as client:
        while time.monotonic() < end:
            begin = time.perf_counter()
            client.get(f"{url}/", timeout=60)
            pages.append((time.perf_counter() - begin) * 1000)
            time.sleep(0.2)
    for thread in threads:
        thread.join()
    wrong = sum(count for code, count in codes.items() if code not in (200, 429))
    grown = resident(process) / before - 1
    print(
        f"{CLIENTS} connections for {seconds:.0f} s: {codes.get(200, 0):,} answers, {codes.get(429, 0):,} refused with "
        f"429, {wrong} errors (bar 0); memory grew by {grown:.1%} (bar 10 %); the page meanwhile: median "
        f"{statistics.median(pages):.0f} ms, 95th percentile {percentile(pages, 0.95):.0f} ms",
        flush=True,
    )


def paint(url: str) -> None:
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if chromium is None:
        print("no Chromium: first paint not measured")
        return
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        times, weight = [], 0
        for _ in range(5):
            page = browser.new_page()
            found = list[Response]()

            def keep(one: Response, found: list[Response] = found) -> None:
                found.append(one)

            page.on("response", keep)
            page.goto(url)
            page.wait_for_timeout(1000)
            painted = "performance.getEntriesByName('first-contentful-paint')[0].startTime"
            times.append(page.evaluate(painted))
            weight = sum(len(one.body()) for one in found if "/api/" not in one.url)
            page.close()
        browser.close()
    print(f"first paint: median {statistics.median(times):.0f} ms of {len(times)} (bar 1,000); ", end="")
    print(f"page weight {weight / 1000:.0f} KB (bar 300)")


def main() -> None:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 30.0
    source = Source(ProgramTask(), Difficulty(4, 3), "test", 0)
    programs = [row.sample.input for row in source.rows(stop=QUESTIONS)]
    with tempfile.TemporaryDirectory() as scratch:
        config = make_config("paper", task="program", length=4, nesting=3, steps=1, evaluate_count=10, test_count=10)
        train(config, Path(scratch) / "paper")
        words = [sys.executable, "-m", "execlab", "serve", "--runs", scratch, "--port", "0"]
        process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
        try:
            assert process.stdout
            url = process.stdout.readline().split(" at ")[1].split(" ")[0].rstrip("/")
            one_client(url, programs)
            load(url, programs, min(seconds, 5), process.pid)  # until its threads and caches are there
            load(url, programs, seconds, process.pid)
            paint(url)
        finally:
            process.terminate()
            process.wait()


if __name__ == "__main__":
    main()
