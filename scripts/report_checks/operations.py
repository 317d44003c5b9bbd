"""The page of clients' operations against its operations.json."""

import json

from browser import Pages
from text import megabytes, micros

MAX_BYTES = 5_000_000


class OperationsPages(Pages):
    file = "operations.html"

    def operations(self, name):
        return json.loads((self.folder / name / "operations.json").read_text())

    @staticmethod
    def cells(page, label):
        return page.evaluate("""label => [...document.querySelectorAll(`.table[aria-label="${label}"] tbody tr`)]
            .map(row => [...row.cells].map(cell => cell.innerText.trim()))""", label)

    def figures(self, name):
        """Every figure of every kind and part is that of operations.json."""
        found, page = self.operations(name), self.open(name)
        path = self.folder / name / self.file
        print(f"check-report: {name}: {megabytes(path)}")
        self.holds(f"{name}: at most {MAX_BYTES} bytes", path.stat().st_size <= MAX_BYTES)
        for button in page.locator("button.more:visible").all():
            button.click()
        kinds = {kind["operation"]: kind for kind in found["kinds"]}
        rows = {row[0]: row for row in self.cells(page, "Kinds and their parts")}
        self.equal(f"{name}: kinds", sorted(rows), sorted(kinds))
        for kind, it in kinds.items():
            us = it["duration_us"]
            self.equal(f"{name}: {kind}", rows[kind][1:2] + rows[kind][3:9],
                       [f"{it['count']:,}", micros(us["total"] / it["count"]), *(micros(us[key]) for key in ("p50", "p90", "p99", "max", "total"))])
            page.locator("#parts select").select_option(label=kind)
            shown = {row[0]: row[2:] for row in self.cells(page, "Percentiles of parts")}
            expected = [part for part in it["parts"].values() if part is None or part["max"] > 0]
            self.equal(f"{name}: parts of {kind}", sorted(shown.values()),
                       sorted(["?"] * 5 if part is None else [micros(part[key]) for key in ("p50", "p90", "p99", "max", "total")] for part in expected))
        self.names(page, name)
        self.close(page)

    def slowest(self, name):
        """The list begins with the slowest, and follows the kind."""
        found, page = self.operations(name), self.open(name)
        rows = self.cells(page, "The slowest")
        expected = [[micros(it["duration_us"]), it["operation"]] for it in found["slowest"]]
        self.equal(f"{name}: the slowest", [row[:2] for row in rows[:len(expected)]], expected)
        kind = found["kinds"][-1]["operation"]
        page.locator("#kinds .link", has_text=kind).first.click()
        self.equal(f"{name}: only {kind}", {row[1] for row in self.cells(page, "The slowest")}, {kind})
        self.equal(f"{name}: the address names it", self.selected(page), {"kind": [kind]})
        self.close(page)

    def click_through(self, name):
        """One operation: its bar is as long as it, its parts are those of the JSON, its RPCs have lines at servers; a link leads to it."""
        found, page = self.operations(name), self.open(name)
        it = found["slowest"][1]
        page.locator("#slowest tbody .link").nth(1).click()
        facts = dict(page.evaluate("[...document.querySelectorAll('#operation .facts > div')].map(it => [it.children[0].innerText, it.children[1].innerText])"))
        self.equal(f"{name}: what", facts["what"], it["operation"])
        self.equal(f"{name}: took", facts["took"], f"{it['duration_us'] / 1e3:.3f}\u202fms")
        bars = "document.querySelectorAll('#operation .lane')"
        self.holds(f"{name}: it has its RPCs as lines", page.evaluate(f"{bars}.length") == 1 + it["rpcs"])
        covered = page.evaluate(f"[...{bars}[0].children].reduce((sum, it) => sum + parseFloat(it.style.width), 0)")
        self.holds(f"{name}: its bar has no gaps", abs(covered - 100) < 0.01)
        page.locator("#operation summary").nth(1).click()
        sums = {}
        for _, _, took, part in self.cells(page, "Stretches in the order of time"):
            sums[part] = sums.get(part, 0) + round(float(took) * 1e3)
        self.equal(f"{name}: its stretches are its parts", sorted(sums.values()), sorted(us for us in it["parts"].values() if us))
        box = page.locator("#operation .lane i").first.bounding_box()
        page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        self.holds(f"{name}: the pointer tells what a piece is", page.locator("#tip").is_visible())
        page.screenshot(path=self.shots / f"operation-{name}.png")
        page.mouse.move(0, 0)
        address = page.evaluate("location.hash")
        self.close(page)
        page = self.open(name, address="#operation?" + address.split("?")[1])
        self.equal(f"{name}: a link shows it", page.locator("#operation .facts dd").nth(1).inner_text(), facts["took"])
        self.close(page)

    def pictures(self):
        for name, width, height, scheme, scale in (("operations", 1440, 900, "light", 1), ("operations", 1440, 900, "dark", 1),
                                                   ("operations", 390, 844, "light", 2), ("operations", 2560, 1440, "dark", 1),
                                                   ("operations-servers", 1440, 900, "light", 1), ("operations-nothing", 1440, 900, "light", 1)):
            self.picture(name, width, height, scheme, scale)
