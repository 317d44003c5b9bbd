"""The page of a comparison against its comparison.json."""

import json
import re

from browser import Pages
from text import SPACE, figure, megabytes, micros, shown

MAX_BYTES = 5_000_000
VERDICTS = {"better": "✔ better", "worse": "✖ worse", "same": "= same", "unknown": "? cannot tell"}


class ComparisonPages(Pages):
    file = "comparison.html"

    def comparison(self, name):
        return json.loads((self.folder / name / "comparison.json").read_text())

    def figures(self, name):
        comparison, page = self.comparison(name), self.open(name)
        path = self.folder / name / self.file
        print(f"check-report: {name}: {megabytes(path)}")
        self.holds(f"{name}: at most {MAX_BYTES} bytes", path.stat().st_size <= MAX_BYTES)
        for button in page.locator("button.more:visible").all():
            button.click()
        everything = comparison["totals"] | comparison["locks"]
        self.table(page, name, "Headline figures", [(key, it) for key, it in everything.items() if it["headline"] and anything(it)])
        self.table(page, name, "Percentiles", [(key, it) for key, it in comparison["totals"].items() if "_total_p" in key and anything(it)])
        self.table(page, name, "More figures", [(key, it) for key, it in comparison["totals"].items()
                                                if not it["headline"] and "_total_p" not in key and anything(it)])
        self.table(page, name, "Lock cost", [(key, it) for key, it in comparison["locks"].items() if anything(it)])
        for section, kind in (("osts", "targets"), ("clients", "clients"), ("operations", "operations")):
            self.rows(page, name, section, comparison[kind]["rows"])
        self.names(page, name)
        self.close(page)

    def table(self, page, name, label, expected):
        """Rows of a table, without their names, in any order."""
        found = sorted([cells[1], cells[2], cells[3], cells[4], cells[5]] for cells in self.cells(page, label))
        self.equal(f"{name}: {label}", found, sorted(cells_of(key, it) for key, it in expected))

    @staticmethod
    def cells(page, label):
        return page.evaluate("""label => [...(document.querySelector(`.table[aria-label="${label}"]`)?.querySelectorAll('tbody tr') ?? [])]
            .map(row => [...row.cells].map(cell => cell.innerText))""", label)

    def rows(self, page, name, section, rows):
        """Every figure that the choice offers, row by row."""
        select = page.locator(f"#{section} select")
        if not select.count():
            self.holds(f"{name}: {section} says why it is empty", page.locator(f"#{section} .empty").inner_text())
            return
        label = page.locator(f"#{section} h2").inner_text()
        for key in select.evaluate("it => [...it.options].map(option => option.value)"):
            select.select_option(key)
            expected = [[row["name"] + ("" if row["is_before"] and row["is_after"] else " (only before)" if row["is_before"] else " (only after)"),
                         *cells_of(key, row["figures"][key])] for row in rows if anything(row["figures"][key])]
            more = page.locator(f"#{section} button.more:visible")
            if more.count() and more.inner_text().startswith("Show all"):
                more.click()
            found = [cells[:6] for cells in self.cells(page, label)]
            self.equal(f"{name}: {label}, {key}", sorted(found), sorted(expected))

    def top(self, name, outcome, cards):
        """The verdict and which findings came, went and stayed."""
        comparison, page = self.comparison(name), self.open(name)
        self.holds(f"{name}: the verdict is {outcome}", page.locator("#verdict").inner_text().replace("\n", " ").startswith(outcome))
        for fold in page.locator(".findings > details:not([open]) > summary").all():
            fold.click()
        found = [card.get_attribute("id").split("-")[0] for card in page.locator(".card").all()]
        changes = comparison["findings"]
        self.equal(f"{name}: cards", {kind: found.count(kind) for kind in ("gained", "lost", "kept")}, {kind: len(changes[kind]) for kind in changes})
        for kind, words in cards:
            self.holds(f"{name}: a card says {words}", any(words in card.inner_text() for card in page.locator(f".card[id^={kind}]").all()))
        for side in ("before", "after"):
            seconds = comparison[side]["activity_s"]
            text = "no I/O of OSTs" if seconds is None else f"I/O during {micros(seconds * 1e6)}"
            self.equal(f"{name}: I/O {side}", page.locator(f"[data-side={side}]").inner_text().split("\n")[0], text)
        self.close(page)

    def zoom(self, name):
        page = self.open(name)
        before = self.label(page, "bandwidth")
        self.drag(page, self.chart(page, "bandwidth"), 0.3, 0.6)
        self.holds(f"{name}: a drag selects what it covers", "t" in self.selected(page))
        self.holds(f"{name}: the chart follows the zoom", self.label(page, "bandwidth") != before)
        page.screenshot(path=self.shots / f"zoomed-{name}.png")
        page.locator("#bandwidth .chart").press("0")
        self.equal(f"{name}: 0 shows all", (self.selected(page), self.label(page, "bandwidth")), ({}, before))
        self.close(page)

    def hover(self, name):
        """What the pointer shows of both runs is in comparison.json."""
        comparison, page = self.comparison(name), self.open(name)
        box = self.chart(page, "bandwidth").locator(".canvas").bounding_box()
        # The height of the first lane; the time from its left end.
        page.mouse.move(box["x"] + box["width"] * 0.1, box["y"] + 80)
        rows = page.locator("#tip tr").all()
        self.equal(f"{name}: both runs are shown", [row.inner_text().split("\t")[1] for row in rows], ["before", "after"])
        for row, side in zip(rows, ("before", "after")):
            course, width = comparison[side]["course"], comparison[side]["bin_s"]
            highest = max(read + written for read, written in zip(course["read_bytes"], course["written_bytes"])) / width
            self.holds(f"{name}: {side} is no higher than its highest bin", 0 < rate(row.inner_text().split("\t")[2]) <= highest * 1.01)
        page.mouse.move(0, 0)
        self.close(page)

    def sorting(self, name):
        page = self.open(name)
        table = page.locator("[aria-label='Clients']")
        table.get_by_role("button", name="client").click()
        names = [row.inner_text() for row in table.locator("tbody th").all()]
        self.equal(f"{name}: by name", names, sorted(names))
        table.get_by_role("button", name="client").click()
        self.equal(f"{name}: and the other way round", [row.inner_text() for row in table.locator("tbody th").all()], names[::-1])
        self.close(page)

    def sorting_by_unit(self, name):
        """Times in seconds and in microseconds are put in order by how long they are, bytes and counts among their like."""
        page = self.open(name)
        table = page.locator("[aria-label='Headline figures']")
        table.get_by_role("button", name="before").click()
        seconds = {"s": 1, "ms": 1e-3, "µs": 1e-6}
        rows = [(row.locator("th").inner_text(), row.locator("td").first.inner_text()) for row in table.locator("tbody tr").all()]
        cells = [cell for figure, cell in rows if "per GiB" not in figure]
        times = [float(match[1]) * seconds[match[2]] for match in (re.fullmatch(rf"([\d.]+){SPACE}(s|ms|µs)", cell) for cell in cells) if match]
        self.holds(f"{name}: there are times of both units", len(times) > 2)
        self.equal(f"{name}: the longest first", times, sorted(times, reverse=True))
        rates = [at for at, cell in enumerate(cells) if cell.endswith("B/s")]
        self.equal(f"{name}: rates stand together", rates, list(range(rates[0], rates[0] + len(rates))))
        self.close(page)

    def pictures(self):
        for name, width, height, scheme, scale in (("collective-read", 1440, 900, "light", 1), ("hdf5-metadata", 1440, 900, "dark", 1),
                                                   ("two-versions", 390, 844, "light", 2), ("two-versions", 1440, 900, "light", 1),
                                                   ("nothing-in-common", 1440, 900, "light", 1), ("two-large", 2560, 1440, "dark", 1)):
            self.picture(name, width, height, scheme, scale)


def anything(figure):
    return any(figure[side] for side in ("before", "after"))


def cells_of(key, it):
    """Before, after, change, verdict and interval as the page writes them."""
    judged = it["better"] is not None or it["verdict"] == "same"
    change = "" if it["change"] is None else shown("changeText", it["change"])
    return [figure(key, it["before"]), figure(key, it["after"]), change, VERDICTS[it["verdict"]] if judged else "", interval(it) if judged else ""]


def interval(it):
    low, high = it["change_min"], it["change_max"]
    if low is not None and low == high:
        return ""
    if low is None and high is None:
        return "" if it["change"] is None else "?"
    return shown("rangeText", low, high)


def rate(text):
    """Bytes per second of a text."""
    figure, unit = text.split(SPACE)
    return float(figure) * 1024 ** ["B/s", "KiB/s", "MiB/s", "GiB/s", "TiB/s"].index(unit)
