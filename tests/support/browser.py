"""A real browser for tests: the system's Chromium, headless, driven by Playwright."""

from __future__ import annotations

import os
import shutil
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import sync_playwright

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Page

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def chromium() -> str:
    """Where it is; without it a test is skipped, but with CI set it fails."""
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        missing = "no Chromium is installed; `make setup` installs it where it can"
        if os.environ.get("CI"):
            pytest.fail(missing)
        pytest.skip(missing)
    return found


@contextmanager
def browser() -> Iterator[Browser]:
    """A browser of its own."""
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        yield found
        found.close()


def is_local(url: str, host: str) -> bool:
    """Whether a request stays on the page's own host."""
    return url.startswith(("data:", "blob:")) or urlsplit(url).netloc == host


@contextmanager
def page(found: Browser, host: str = "", **options: Any) -> Iterator[Page]:
    """A page; what it may not do ends the test: an error on its console, a request to any other host."""
    context = found.new_context(**options)
    opened, wrong = context.new_page(), list[str]()
    opened.on("console", lambda said: wrong.append(said.text) if said.type in ("error", "warning") else None)
    opened.on("pageerror", lambda error: wrong.append(str(error)))
    opened.on("request", lambda request: None if is_local(request.url, host) else wrong.append(request.url))
    yield opened
    context.close()
    assert not wrong, wrong
