"""Opens pages of `lioprof report` in Chromium and compares them with their analyses; for scripts/check-report."""

import json
import pathlib
import re
import subprocess
import sys
import time
from urllib.parse import parse_qs

from playwright.sync_api import TimeoutError, sync_playwright

# Chromium as root, without anything that it would fetch for itself.
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync"]
MAX_BYTES = 5_000_000
SPACE = "\u202f"


def main():
    chromium, lioprof, folder, shots = sys.argv[1:]
    folder, shots = pathlib.Path(folder), pathlib.Path(shots)
    give_findings(folder / "lock_pingpong_dlm" / "analysis.json")
    for name in ("large", "lock_pingpong_dlm"):
        began = time.monotonic()
        subprocess.run([lioprof, "report", "--quiet", folder / name / "analysis.json"], check=True)
        print(f"check-report: {name}: made in {time.monotonic() - began:.2f} s from {megabytes(folder / name / 'analysis.json')}")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        checks = Checks(browser, folder, shots)
        for name in ("file_per_process", "shared_striped_write", "lock_pingpong", "lock_pingpong_dlm", "ops_mix", "metadata", "empty", "few", "large"):
            checks.figures(name)
        checks.zoom("file_per_process")
        checks.filters("file_per_process")
        checks.filters("ops_mix")
        checks.findings("lock_pingpong_dlm")
        checks.hover("file_per_process")
        checks.sorting("ops_mix")
        checks.address("lock_pingpong_dlm")
        checks.without("lock_pingpong", "lock-timeline", "Needs mask dlmtrace")
        checks.without("file_per_process", "locks", "No lock conflicts between clients")
        checks.without("empty", "bandwidth", "No reads or writes")
        checks.text_only("large")
        checks.theme("lock_pingpong_dlm")
        checks.paper("lock_pingpong_dlm")
        checks.paper("large")
        checks.pictures()
        browser.close()
    print(f"check-report: {checks.done} checks, screenshots in {shots}")


def give_findings(path):
    """A critical finding about the object that is fought over, whatever the rules of this version find."""
    analysis = json.loads(path.read_text())
    worst = analysis["locks"]["objects"][0]
    start = analysis["window"]["start"]
    finding = {
        "id": "made-up", "severity": "critical", "confidence": "high", "title": "Two clients took one lock from each other 127 times",
        "explanation": "Made up <b>for a test</b>.", "evidence": {"conflicts": 127, "wait_s": 4.195929, "contended_share": 0.167},
        "thresholds": {"made-up.alternations": 10}, "remedies": ["Align writers to stripes: `lfs setstripe -S 4M FILE`."],
        "targets": [worst["target"]], "clients": worst["clients"], "objects": [{"target": worst["target"], "fid": worst["fid"]}],
        "jobs": ["python3.0"], "nodes": [worst["node"]], "interval": {"start": start + 5, "end": start + 8.5}, "cost_s": 4.195929,
        "cost_of": "client-seconds of waiting", "plot": "lock-timeline", "docs": "made-up",
    }
    analysis["findings"] = [finding]
    analysis["checks"] = [{"id": "made-up", "result": "found", "reason": None}, {"id": "b", "result": "not_enough_evidence", "reason": "made up"}]
    path.write_text(json.dumps(analysis))


class Checks:
    def __init__(self, browser, folder, shots):
        self.browser, self.folder, self.shots, self.done = browser, folder, shots, 0

    def equal(self, what, found, expected):
        self.done += 1
        if found != expected:
            sys.exit(f"check-report: {what}: found {found!r}, expected {expected!r}")

    def holds(self, what, fact):
        self.equal(what, bool(fact), True)

    def open(self, name, width=1440, height=900, scheme="light", address="", scale=1):
        """The page, in a context that has nothing cached; every error and every request is kept."""
        context = self.browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme, device_scale_factor=scale)
        page = context.new_page()
        page.wrong = []
        path = self.folder / name / "report.html"
        page.on("console", lambda message: page.wrong.append(message.text) if message.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: page.wrong.append(str(error)))
        page.on("request", lambda request: page.wrong.append(request.url) if not request.url.startswith(path.as_uri()) else None)
        page.goto(path.as_uri() + address)
        try:
            page.wait_for_selector("html[data-ready]", state="attached", timeout=20_000)
        except TimeoutError:
            sys.exit(f"check-report: {name}: the page does not come up: {page.wrong}")
        page.name = name
        return page

    def close(self, page):
        page.wait_for_timeout(100)
        self.equal(f"{page.name}: errors and requests", page.wrong, [])
        page.context.close()

    def analysis(self, name):
        return json.loads((self.folder / name / "analysis.json").read_text())

    def figures(self, name):
        analysis, page = self.analysis(name), self.open(name)
        path = self.folder / name / "report.html"
        load = page.evaluate("performance.getEntriesByType('navigation')[0].domComplete")
        print(f"check-report: {name}: {megabytes(path)}, opened in {load / 1000:.2f} s")
        self.holds(f"{name}: at most {MAX_BYTES} bytes", path.stat().st_size <= MAX_BYTES)
        totals = analysis["totals"]
        for key, io in (("read", totals["read"]), ("written", totals["write"])):
            shown = page.locator(f"[data-total='{key}']")
            self.equal(f"{name}: {key}", shown.inner_text().split("\n")[0], io_bytes(io))
            self.holds(f"{name}: {key} to the last byte", shown.locator("..").get_attribute("title").startswith(exactly(io)))
        self.equal(f"{name}: RPCs", page.locator("[data-total='RPCs handled']").inner_text().split("\n")[0], f"{totals['rpcs']:,}")

        for button in page.locator("button.more:visible").all():
            button.click()
        # Without any read or write a sentence stands in place of the table.
        any_io = any(analysis["series"]["targets"])
        used = lambda row: any_io and (row["kind"] == "ost" or row["read"]["rpcs"] + row["write"]["rpcs"])
        short = shortener(analysis)
        self.table(page, name, "OSTs", {
            (short(row["name"]), row["node"]): [f"{row['read']['rpcs']:,}", io_bytes(row["read"]), micros(row["read"]["latency"]["total_us"]["p99"]), f"{row['write']['rpcs']:,}", io_bytes(row["write"])]
            for row in analysis["targets"] if row["kind"] != "mgs" and used(row)}, lambda cells: ((cells[0], cells[1]), [cells[2], cells[3], cells[5], cells[6], cells[7]]))
        self.table(page, name, "Operations", {
            (row["name"], row["service"]): [f"{row['rpcs']:,}", f"{row['errors']:,}", micros(row["service_us"]["p50"]), micros(row["total_us"]["max"])]
            for row in analysis["operations"]}, lambda cells: ((cells[0], cells[1]), [cells[2], cells[3], cells[6], cells[8]]))
        clients = {row["nid"] + (" (server)" if row["server"] else ""): [f"{row['rpcs']:,}", io_bytes(row["read"]), io_bytes(row["write"])] for row in analysis["clients"]}
        self.table(page, name, "Clients", clients, lambda cells: (cells[0], [cells[1], cells[3], cells[5]]), at_most=400)
        jobs = {{None: "(not printed by this version)", "": "(none)"}.get(row["job"], row["job"]): [f"{row['rpcs']:,}", io_bytes(row["write"])] for row in analysis["jobs"]}
        self.table(page, name, "Jobs", jobs, lambda cells: (cells[0], [cells[1], cells[5]]), at_most=200)
        self.names(page, name)
        self.close(page)

    def table(self, page, name, label, expected, pick, at_most=10**6):
        """Rows of a table against those of the analysis; a row of others only where there are too many."""
        rows = page.evaluate("""label => [...(document.querySelector(`.table[aria-label="${label}"]`)?.querySelectorAll('tbody tr:not(.others)') ?? [])]
            .map(row => [...row.cells].map(cell => cell.innerText))""", label)
        found = dict(pick(cells) for cells in rows)
        self.equal(f"{name}: rows of {label}", len(rows), min(len(expected), at_most))
        for key, figures in found.items():
            self.equal(f"{name}: {label}, {key}", figures, expected.get(key))

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

    def zoom(self, name):
        analysis, page = self.analysis(name), self.open(name)
        before = [self.label(page, section) for section in ("bandwidth", "latency", "queue", "timeline", "objects")]
        self.drag(page, self.chart(page, "bandwidth"), 0.3, 0.6)
        start, end = map(float, self.selected(page)["t"][0].split("-"))
        span = analysis["window"]["duration_s"]
        self.holds(f"{name}: a drag selects what it covers", 0.2 * span < start < 0.3 * span and 0.5 * span < end < 0.65 * span)
        after = [self.label(page, section) for section in ("bandwidth", "latency", "queue", "timeline", "objects")]
        self.holds(f"{name}: all views follow the zoom", all(a != b for a, b in zip(before, after)))
        inside = [rpc for rpc in analysis["sample"]["rpcs"] if rpc["end"] - analysis["window"]["start"] >= start and rpc["arrival"] - analysis["window"]["start"] <= end]
        self.equal(f"{name}: RPCs of the timeline in the zoom", count_in(self.label(page, "timeline")), len(inside))
        chart = self.chart(page, "bandwidth")
        chart.focus()
        page.keyboard.press("+")
        closer = list(map(float, self.selected(page)["t"][0].split("-")))
        self.holds(f"{name}: + zooms", abs((closer[1] - closer[0]) - (end - start) / 2) < 1e-3)
        page.keyboard.press("ArrowRight")
        self.holds(f"{name}: the arrow moves", float(self.selected(page)["t"][0].split("-")[0]) > closer[0])
        page.screenshot(path=self.shots / "zoomed.png")
        page.keyboard.press("0")
        self.equal(f"{name}: 0 shows all", self.selected(page), {})
        self.equal(f"{name}: all is as it was", [self.label(page, section) for section in ("bandwidth", "latency", "queue", "timeline", "objects")], before)
        self.drag(page, self.chart(page, "bandwidth"), 0.3, 0.6)
        page.locator(".overview .canvas").click()
        self.equal(f"{name}: a click on the overview shows all", self.selected(page), {})
        self.close(page)

    def filters(self, name):
        analysis, page = self.analysis(name), self.open(name)
        before = self.label(page, "bandwidth")
        chart = self.chart(page, "matrix")
        box = chart.locator(".canvas").bounding_box()
        # The first cell: left of the middle, at the top of the rows.
        cells = page.evaluate("""() => [...document.querySelectorAll('#matrix .chart')].length""")
        self.equal(f"{name}: one matrix", cells, 1)
        chart.focus()
        page.keyboard.press("ArrowDown")
        tip = page.locator("#tip").inner_text()
        page.keyboard.press("Enter")
        chosen = self.selected(page)
        client, target = chosen["client"][0], chosen["target"][0]
        self.holds(f"{name}: the cursor's cell is what Enter selects", client in tip and target.split("-")[-1] in tip)
        numbers = ([row["nid"] for row in analysis["clients"]].index(client), [row["name"] for row in analysis["targets"]].index(target))
        own = [rpc for rpc in analysis["sample"]["rpcs"] if (rpc["client"], rpc["target"]) == numbers]
        self.equal(f"{name}: RPCs of the timeline of {client} on {target}", count_in(self.label(page, "timeline")), len(own))
        self.equal(f"{name}: rows of the clients", page.locator("[aria-label='Clients'] tbody tr").count(), 1)
        self.equal(f"{name}: rows of the OSTs", page.locator("[aria-label='OSTs'] tbody tr").count(), 1)
        self.holds(f"{name}: the bandwidth follows", self.label(page, "bandwidth") != before)
        self.holds(f"{name}: the page says what it was made of", page.locator("#bandwidth .sample").is_visible())
        page.screenshot(path=self.shots / f"filtered-{name}.png")
        reads = [rpc for rpc in own if rpc["direction"] == "read"]
        if reads:
            page.get_by_role("button", name="Reads", exact=True).click()
            self.equal(f"{name}: reads of it", count_in(self.label(page, "timeline")), len(reads))
        page.get_by_role("button", name="Clear all").click()
        self.equal(f"{name}: everything is shown again", (self.selected(page), self.label(page, "bandwidth")), ({}, before))
        # The same with the mouse.
        self.chart(page, "matrix")
        box = chart.locator(".canvas").bounding_box()
        page.mouse.click(box["x"] + box["width"] * 0.5, box["y"] + box["height"] - 14)
        by_mouse = self.selected(page)
        self.holds(f"{name}: a click selects a client and an OST", "client" in by_mouse and "target" in by_mouse)
        page.mouse.click(box["x"] + box["width"] * 0.5, box["y"] + box["height"] - 14)
        self.equal(f"{name}: a second click selects nothing", self.selected(page), {})
        page.locator("[aria-label='Clients'] tbody button").first.click()
        self.equal(f"{name}: a click on a name selects it", len(self.selected(page)["client"]), 1)
        page.locator(".chip").first.click()
        self.equal(f"{name}: its chip takes it back", self.selected(page), {})
        self.close(page)

    def findings(self, name):
        analysis, page = self.analysis(name), self.open(name)
        finding = analysis["findings"][0]
        self.equal(f"{name}: verdict", page.locator("#verdict").inner_text().replace("\n", ""), f"▲Critical. {finding['title']}.")
        card = page.locator(".card").first
        text = card.inner_text()
        for words in (finding["title"], finding["explanation"], "4.2\u202fs", "lfs setstripe -S 4M FILE", finding["clients"][0], finding["objects"][0]["fid"], "127", "docs/findings.md#made-up"):
            self.holds(f"{name}: the card says {words}", words in text)
        card.get_by_role("link").click()
        page.wait_for_timeout(200)
        chosen = self.selected(page)
        self.equal(f"{name}: the link selects", (chosen["t"][0], chosen["target"], chosen["client"], len(chosen["object"])), ("5-8.5", finding["targets"], finding["clients"], 1))
        top = page.locator("#lock-timeline h2").bounding_box()["y"]
        bar = page.locator(".toolbar").bounding_box()
        self.holds(f"{name}: the link shows its view, below the bar", bar["y"] + bar["height"] <= top < 500)
        self.holds(f"{name}: it shows the time of the finding", "5 s to 8.5 s" in self.label(page, "lock-timeline").replace(SPACE, " ").replace(".0 s", " s").replace(".00 s", " s").replace("8.50", "8.5"))
        page.screenshot(path=self.shots / "finding-link.png")
        page.go_back()
        page.wait_for_timeout(200)
        self.equal(f"{name}: back shows all again", self.selected(page), {})
        self.close(page)

    def hover(self, name):
        """What the pointer shows is the bin of the analysis."""
        analysis, page = self.analysis(name), self.open(name)
        chart = self.chart(page, "bandwidth")
        box = chart.locator(".canvas").bounding_box()
        series = analysis["series"]
        offset, width = series["start"] - analysis["window"]["start"], series["bin_s"]
        sums = [sum(lane["write_bytes"][i] for lane in series["targets"]) for i in range(series["bins"])]
        seen = 0
        for step in range(12, 90):
            page.mouse.move(box["x"] + box["width"] * step / 100, box["y"] + 60)
            if page.locator("#tip").is_hidden():
                continue
            text = page.locator("#tip").inner_text().replace(SPACE, " ")
            start = float(re.search(r", ([\d.]+) (m?s) to", text)[1])
            at = round((start - offset) / width)
            # Bins at the edges are cut to the window.
            if not 1 < at < series["bins"] - 2 or not sums[at]:
                continue
            seen += 1
            written = re.search(r"written\s+~?(.*)/s", text)[1]
            self.equal(f"{name}: written at {start} s", written, human_bytes(round(sums[at] / width)).replace(SPACE, " "))
        self.holds(f"{name}: there was something to see", seen > 3)
        self.close(page)

    def sorting(self, name):
        analysis, page = self.analysis(name), self.open(name)
        expected = sorted((row["service_us"]["p99"] for row in analysis["operations"]), reverse=True)
        table = page.locator("[aria-label='Operations']")
        table.get_by_role("button", name="service p99").click()
        self.equal(f"{name}: highest first", table.locator("tbody tr").first.locator("td").nth(6).inner_text(), micros(expected[0]))
        table.get_by_role("button", name="service p99").focus()
        page.keyboard.press("Enter")
        self.equal(f"{name}: lowest first", table.locator("tbody tr").first.locator("td").nth(6).inner_text(), micros(expected[-1]))
        self.equal(f"{name}: the header says so", table.locator("th[aria-sort]").get_attribute("aria-sort"), "ascending")
        self.close(page)

    def address(self, name):
        """A link shows what its sender saw; names that the page does not have are left out."""
        page = self.open(name, address="#timeline?t=4-6&io=w&client=10.10.0.11%40tcp&target=no-such-OST0000")
        self.equal(f"{name}: chips", [chip.inner_text().split("\n")[0] for chip in page.locator(".chip").all()][1:], ["10.10.0.11@tcp"])
        self.holds(f"{name}: only writes", page.get_by_role("button", name="Writes", exact=True).get_attribute("aria-pressed") == "true")
        self.holds(f"{name}: the view is in sight", 0 <= page.locator("#timeline h2").bounding_box()["y"] < 900)
        self.close(page)

    def without(self, name, section, words):
        page = self.open(name)
        self.holds(f"{name}: {section} says why it is empty", words in page.locator(f"#{section} .empty").first.inner_text())
        self.close(page)

    def text_only(self, name):
        """Names out of a log stay text."""
        page = self.open(name)
        self.holds(f"{name}: a job's name is text", "<script>alert(\"no\")</script>" in page.locator("[aria-label='Jobs']").inner_text())
        self.equal(f"{name}: elements made of names", page.locator("main script, main b:not(.chip b)").count(), 0)
        self.close(page)

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

    def pictures(self):
        for name, width, height, scheme, scale in (("lock_pingpong_dlm", 1440, 900, "light", 1), ("lock_pingpong_dlm", 390, 844, "light", 2),
                                                   ("ops_mix", 1440, 900, "dark", 1), ("file_per_process", 1440, 900, "light", 1), ("large", 1440, 900, "light", 1),
                                                   ("large", 2560, 1440, "dark", 1), ("large", 390, 844, "dark", 2), ("empty", 1440, 900, "light", 1), ("few", 1440, 900, "light", 1)):
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


def megabytes(path):
    return f"{path.stat().st_size / 1e6:.2f} MB"


def count_in(label):
    return int(re.search(r"([\d,]+) RPC", label)[1].replace(",", "")) if re.search(r"([\d,]+) RPC", label) else 0


def shortener(analysis):
    systems = {re.split(r"-(?=OST|MDT)", row["name"])[0] for row in analysis["targets"]}
    return lambda name: name.removeprefix(f"{systems.copy().pop()}-") if len(systems) == 1 else name


def digits(value):
    return f"{value:.0f}" if value >= 99.95 else f"{value:.1f}" if value >= 9.995 else f"{value:.2f}"


def human_bytes(value):
    units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"]
    unit = 0
    while value >= 999.5 and unit + 1 < len(units):
        value, unit = value / 1024, unit + 1
    return f"{value:.0f}{SPACE}B" if unit == 0 else f"{digits(value)}{SPACE}{units[unit]}"


def io_bytes(io):
    if io["bytes"] is None:
        return "?"
    return ("~" if io["bounded_rpcs"] or io["unsized_rpcs"] else "") + human_bytes(io["bytes"])


def exactly(io):
    return "unknown" if io["bytes"] is None else f"{io['bytes']:,} bytes in {io['rpcs']:,} RPC"


def micros(value):
    """As the page shows it: three digits, without zeros at the end."""
    if value is None:
        return "–"
    if value < 0.5:
        return f"0{SPACE}s"
    unit = 0
    while value >= 999.5 and unit < 2:
        value, unit = value / 1000, unit + 1
    text = digits(value)
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return f"{text}{SPACE}{['µs', 'ms', 's'][unit]}"


main()
