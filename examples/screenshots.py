"""Screenshots of the report and of the page of the service; needs ``vebnn[test]`` and Chromium.

``python examples/screenshots.py MODEL REPORT`` takes a model and its report, made by the commands in
the README, and writes to ``docs/images``.
"""

import shutil
import subprocess
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

IMAGES = Path(__file__).parents[1] / "docs" / "images"


def main(model: str, report: str) -> None:
    """Take both screenshots."""
    command = [sys.executable, "-m", "vebnn.cli", "serve", model, "--port", "0"]
    service = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert service.stdout is not None
        address = service.stdout.readline().split("Serving on ")[1].split(";")[0]
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path=shutil.which("chromium"), args=["--no-sandbox"]
            )
            page = browser.new_page(viewport={"width": 1120, "height": 1180})
            page.goto(Path(report).absolute().as_uri())
            page.wait_for_function("document.documentElement.dataset.drawn")
            top = "document.querySelector('h2').getBoundingClientRect().top"
            page.evaluate(f"scrollTo({{top: {top} - 24, behavior: 'instant'}})")
            page.screenshot(path=IMAGES / "report.png")
            page.set_viewport_size({"width": 1060, "height": 720})
            page.goto(address)
            page.wait_for_selector(".why:not(.old) .drivers")
            page.wait_for_timeout(500)  # until it is no longer pale
            page.screenshot(path=IMAGES / "service.png")
            browser.close()
    finally:
        service.terminate()
        service.wait()


if __name__ == "__main__":
    main(*sys.argv[1:])
