"""A headless Chromium of one's own, with an empty profile, for tests of pages."""

from __future__ import annotations

import json
import os
import shutil

BINARY = shutil.which("chromium")
DRIVER = shutil.which("chromedriver")
WHY_NOT = "needs chromium and chromedriver, which are not installed"


def start(folder, width=1400, height=1000):
    """A browser; its caller quits it.

    Args:
        folder: an empty one, for its profile.
        width: of the window, in pixels.
        height: the same.
    """
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = BINARY
    for argument in (
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        f"--user-data-dir={folder}",
        f"--window-size={width},{height}",
    ):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    # Selenium looks for drivers on the network when it is not told which to take.
    environment = {**os.environ, "SE_OFFLINE": "true", "SE_AVOID_STATS": "true"}
    return webdriver.Chrome(options=options, service=Service(DRIVER, env=environment))


def requests(browser):
    """The addresses of everything that was asked for since the last call."""
    events = [json.loads(row["message"])["message"] for row in browser.get_log("performance")]
    return [
        event["params"]["request"]["url"]
        for event in events
        if event["method"] == "Network.requestWillBeSent"
    ]
