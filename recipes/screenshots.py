"""The pictures of the playground in the README: python recipes/screenshots.py (needs Chromium; runs/ may hold runs)."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

IMAGES = Path(__file__).parent.parent / "docs" / "images"
RUNS = Path(sys.argv[1] if len(sys.argv) > 1 else "runs")
PROGRAM = "#play?model=program-2x1&input=g%3D83%0Afor+x+in+range(6)%3Ag%2B%3D45%0Aprint(g)&speed=3&memory=h"


def main() -> None:
    IMAGES.mkdir(exist_ok=True)
    words = [sys.executable, "-m", "execlab", "serve", "--port", "0", "--runs", str(RUNS)]
    server = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout
        url = server.stdout.readline().split(" at ")[1].split(" ")[0]
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
            page = browser.new_page(viewport={"width": 1200, "height": 800})
            page.goto(url + PROGRAM)
            page.wait_for_selector("#verdict.good")
            page.click("#play-end")
            page.wait_for_selector("#memory canvas")
            page.screenshot(path=IMAGES / "playground.png", full_page=True)
            page.click("[data-view=runs]")
            page.wait_for_selector("#runs-list input")
            for box in page.locator("#runs-list input").all()[:4]:
                box.check()
            page.wait_for_selector("path.line")
            page.wait_for_timeout(1000)
            page.screenshot(path=IMAGES / "runs.png", full_page=True)
            browser.close()
    finally:
        server.terminate()
        server.wait()


if __name__ == "__main__":
    main()
