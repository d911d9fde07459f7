"""A page in a real browser, under observation."""

from pathlib import Path

from playwright.sync_api import Browser, Dialog, Page


class Watched:
    """A page, and everything that went wrong on it."""

    def __init__(self, browser: Browser, scheme: str = "light") -> None:
        self.page: Page = browser.new_page(color_scheme=scheme, viewport={"width": 1200, "height": 900})
        self.complaints: list[str] = []
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on(
            "dialog", lambda dialog: (self.complaints.append(dialog.message), dialog.dismiss())
        )
        self.page.on("requestfailed", lambda request: self.complaints.append(request.url))

    def refuse(self, dialog: Dialog) -> None:
        self.complaints.append(dialog.message)
        dialog.dismiss()

    def open_report(self, path: Path) -> Page:
        self.page.goto(path.as_uri())
        self.page.wait_for_function("document.documentElement.dataset.drawn")
        return self.page
