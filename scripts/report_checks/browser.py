"""A page in Chromium: what must hold for any page, and how to touch it."""

import sys
from urllib.parse import parse_qs

from playwright.sync_api import TimeoutError


class Pages:
    """Checks of pages called `file`, one in each folder."""

    file = None

    def __init__(self, browser, folder, shots):
        self.browser, self.folder, self.shots, self.done = browser, folder, shots, 0

    def equal(self, what, found, expected):
        self.done += 1
        if found != expected:
            sys.exit(f"check-report: {what}: found {found!r}, expected {expected!r}")

    def holds(self, what, fact):
        self.equal(what, bool(fact), True)

    def open(self, name, width=1440, height=900, scheme="light", address="", scale=1, timezone="UTC"):
        """The page, in a context that has nothing cached; every error and every request is kept."""
        context = self.browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme, device_scale_factor=scale, timezone_id=timezone)
        page = context.new_page()
        page.wrong = []
        path = self.folder / name / self.file
        page.on("console", lambda message: page.wrong.append(message.text) if message.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: page.wrong.append(str(error)))
        page.on("request", lambda request: page.wrong.append(request.url) if not request.url.startswith(path.as_uri()) else None)
        page.goto(path.as_uri() + address)
        try:
            page.wait_for_selector("html[data-complete]", state="attached", timeout=20_000)
        except TimeoutError:
            sys.exit(f"check-report: {name}: the page does not come up: {page.wrong}")
        page.name = name
        return page

    def close(self, page):
        page.wait_for_timeout(100)
        self.equal(f"{page.name}: errors and requests", page.wrong, [])
        page.context.close()

    def names(self, page, name):
        """Whoever does not see the page can still use it."""
        self.equal(f"{name}: charts without a name or out of reach of the keyboard",
                   page.evaluate("[...document.querySelectorAll('.chart')].filter(it => !it.getAttribute('aria-label') || it.tabIndex !== 0).length"), 0)
        self.equal(f"{name}: controls without a name",
                   page.evaluate("[...document.querySelectorAll('button, select, input')].filter(it => !(it.textContent || it.ariaLabel || it.title || it.labels?.length)).length"), 0)
        self.equal(f"{name}: ids used twice", page.evaluate("(ids => ids.filter((it, i) => ids.indexOf(it) !== i))([...document.querySelectorAll('[id]')].map(it => it.id))"), [])

    @staticmethod
    def chart(page, section, at=0):
        chart = page.locator(f"#{section} .chart").nth(at)
        chart.scroll_into_view_if_needed()
        page.wait_for_timeout(150)
        return chart

    @staticmethod
    def drag(page, chart, start, end):
        box = chart.locator(".canvas").bounding_box()
        y = box["y"] + box["height"] / 2
        page.mouse.move(box["x"] + box["width"] * start, y)
        page.mouse.down()
        page.mouse.move(box["x"] + box["width"] * (start + end) / 2, y, steps=4)
        page.mouse.move(box["x"] + box["width"] * end, y)
        page.mouse.up()

    @staticmethod
    def selected(page):
        return parse_qs(page.evaluate("location.hash.split('?')[1] ?? ''"))

    @staticmethod
    def label(page, section, at=0):
        return page.locator(f"#{section} .chart").nth(at).get_attribute("aria-label")

    def theme(self, name):
        page = self.open(name)
        ground = "getComputedStyle(document.body).backgroundColor"
        light = page.evaluate(ground)
        page.locator("#theme").select_option("dark")
        dark = page.evaluate(ground)
        self.holds(f"{name}: the switch changes the ground", light != dark)
        self.close(page)
        page = self.open(name, scheme="dark")
        self.equal(f"{name}: dark as the system", page.evaluate(ground), dark)
        self.close(page)
        for scheme in ("light", "dark"):
            page = self.open(name, scheme=scheme)
            for color in ("ink", "muted", "accent", "critical", "warning", "info", "healthy"):
                ratio = page.evaluate(CONTRAST, color)
                self.holds(f"{scheme}: contrast of {color} is {ratio:.1f}, wanted 4.5", ratio >= 4.5)
            self.close(page)

    def paper(self, name):
        page = self.open(name, scheme="dark")
        paper = page.pdf(path=self.shots / f"print-{name}.pdf", format="A4", print_background=True)
        self.holds(f"{name}: a PDF of some pages", paper.startswith(b"%PDF") and 1 < paper.count(b"/Type /Page\n") < 40)
        self.equal(f"{name}: dark again afterwards", page.evaluate("document.documentElement.dataset.theme"), "dark")
        self.close(page)

    def picture(self, name, width, height, scheme, scale):
        """What is first seen, and all of the page, to be looked at."""
        page = self.open(name, width, height, scheme, scale=scale)
        kind = {390: "phone", 1440: "desktop", 2560: "wall"}[width]
        self.equal(f"{name} on a {kind}: nothing is wider than the screen", page.evaluate("document.documentElement.scrollWidth"), width)
        page.screenshot(path=self.shots / f"{name}-{kind}-{scheme}.png")
        # As high as the whole page, so that all charts are in sight and drawn.
        page.set_viewport_size({"width": width, "height": min(16_000 // scale, page.evaluate("document.documentElement.scrollHeight"))})
        page.wait_for_timeout(500)
        page.screenshot(path=self.shots / f"{name}-{kind}-{scheme}-all.png")
        self.close(page)


# WCAG's ratio of a colour of the theme to the page's ground.
CONTRAST = """name => {
    const style = getComputedStyle(document.documentElement);
    const light = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16) / 255)
        .map((it) => (it <= 0.04045 ? it / 12.92 : ((it + 0.055) / 1.055) ** 2.4)).reduce((sum, it, i) => sum + it * [0.2126, 0.7152, 0.0722][i], 0);
    const [a, b] = [name, "surface"].map((it) => light(style.getPropertyValue(`--${it}`).trim()));
    return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
}"""
