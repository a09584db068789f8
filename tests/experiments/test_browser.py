"""The report as a person sees it: in a real browser, without a network."""

from __future__ import annotations

from typing import TYPE_CHECKING

from browser import browser, page

from execlab.experiments import make_grid
from execlab.experiments.run.display import Watch
from execlab.experiments.run.engine import LocalEngine
from execlab.experiments.run.reproduce import reproduce

if TYPE_CHECKING:
    from pathlib import Path


def test_the_report_opens_without_a_network(tmp_path: Path) -> None:
    grid = [planned for planned in make_grid("addition", "smoke") if "baseline" in planned.name]
    reproduce("addition", "smoke", grid, tmp_path, LocalEngine(tmp_path, 2), Watch())
    with browser() as found, page(found, offline=True) as opened:
        opened.goto((tmp_path / "report.html").as_uri())
        assert opened.title() == "addition, smoke: report of execlab"
        figure = opened.locator("figure svg").first.bounding_box()
        assert figure
        assert figure["width"] > 300
        assert figure["height"] > 200
        assert opened.locator("table").count() >= 2
        assert opened.locator("td.not-tested").first.is_visible()
        opened.get_by_text("How they are judged").click()
        assert opened.get_by_text("is not the opposite").is_visible()
        widths = opened.evaluate("[document.documentElement.scrollWidth, window.innerWidth]")
        assert widths[0] <= widths[1]
        assert opened.screenshot(full_page=True).startswith(b"\x89PNG")
