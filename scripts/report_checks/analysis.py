"""The page of an analysis against its analysis.json."""

import json
import re

from browser import Pages
from text import SPACE, count_in, exactly, human_bytes, io_bytes, megabytes, micros, shortener

MAX_BYTES = 5_000_000
MAX_BYTES_OF_A_DAY = 14_000_000
# Single RPCs in a page.
MAX_SAMPLE = 8_000


class AnalysisPages(Pages):
    file = "report.html"

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

        shown = page.locator("header.page strong").all_inner_texts()
        options = [f"--{option} {value}" for option in ("client", "target", "job", "opcode") for value in analysis.get("selected", {}).get(f"{option}s", [])]
        self.holds(f"{name}: what was selected", [text.split(";")[0] for text in shown] == (["Only " + " ".join(options)] if options else []))

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
        # The made-up system has none.
        server_time = lambda row: micros(sum(row["service_us"].values())) if row["service_us"] or not row["rpcs"] else "?"
        clients = {row["nid"]: [server_time(row), f"{row['rpcs']:,}", io_bytes(row["read"]), io_bytes(row["write"])] for row in analysis["clients"] if not row["server"]}
        self.table(page, name, "Clients", clients, lambda cells: (cells[0], [cells[1], cells[2], cells[4], cells[6]]), at_most=400)
        jobs = {self.job(analysis, row["job"]): [server_time(row), f"{row['rpcs']:,}", io_bytes(row["write"])] for row in analysis["jobs"]}
        self.table(page, name, "Jobs", jobs, lambda cells: (cells[0], [cells[1], cells[3], cells[7]]), at_most=200)
        locks = analysis["locks"] or {"jobs": []}
        waited = {self.job(analysis, row["job"]): [f"{row['blocked']:,}"] for row in locks["jobs"] if row["blocked"] or row["wait_s"]}
        if page.locator("[aria-label='Jobs that waited for locks']").count():
            self.table(page, name, "Jobs that waited for locks", waited, lambda cells: (cells[0], [cells[1]]), at_most=200)
        # Counts of single RPCs are called what they are.
        objects = page.locator("#objects .chart").first
        label = objects.get_attribute("aria-label") if objects.count() else ""
        sample = analysis["sample"]
        if " RPC" in label:
            self.equal(f"{name}: RPCs of objects are sampled", "sampled RPC" in label, sample["one_in"] > 1 or len(sample["rpcs"]) > MAX_SAMPLE)
        self.names(page, name)
        self.close(page)

    @staticmethod
    def job(analysis, job):
        """Not that a version prints none, where the same log has others."""
        without = "(not known)" if any(row["job"] is not None for row in analysis["jobs"]) else "(not printed by this version)"
        return {None: without, "": "(none)"}.get(job, job)

    def table(self, page, name, label, expected, pick, at_most=10**6):
        """Rows of a table against those of the analysis; a row of others only where there are too many."""
        rows = page.evaluate("""label => [...(document.querySelector(`.table[aria-label="${label}"]`)?.querySelectorAll('tbody tr:not(.others)') ?? [])]
            .map(row => [...row.cells].map(cell => cell.innerText))""", label)
        found = dict(pick(cells) for cells in rows)
        self.equal(f"{name}: rows of {label}", len(rows), min(len(expected), at_most))
        for key, figures in found.items():
            self.equal(f"{name}: {label}, {key}", figures, expected.get(key))

    def zoom(self, name):
        analysis, page = self.analysis(name), self.open(name)
        before = [self.label(page, section) for section in ("bandwidth", "latency", "queue", "timeline", "objects")]
        self.drag(page, self.chart(page, "bandwidth"), 0.3, 0.6)
        start, end = map(float, self.selected(page)["t"][0].split("-"))
        span = analysis["window"]["duration_s"]
        self.holds(f"{name}: a drag selects what it covers", 0.2 * span < start < 0.3 * span and 0.5 * span < end < 0.65 * span)
        after = [self.label(page, section) for section in ("bandwidth", "latency", "queue", "timeline", "objects")]
        self.holds(f"{name}: all views follow the zoom", all(a != b for a, b in zip(before, after)))
        # The range is not round; the labels are.
        for section in ("bandwidth", "queue", "timeline"):
            times = self.time_labels(page, section)
            steps = {round(after - before, 6) for before, after in zip(times, times[1:])}
            self.holds(f"{name}: {section} has round times ({times})", len(times) > 2 and len(steps) == 1 and start <= times[0] and times[-1] <= end)
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

    def time_labels(self, page, section):
        """The seconds that a view's time axis is labelled with, as drawn."""
        self.chart(page, section)
        texts = page.evaluate("""section => {
            const chart = echarts.getInstanceByDom(document.querySelector(`#${section} .chart [_echarts_instance_]`));
            return chart.getZr().storage.getDisplayList().map(it => it.style?.text ?? '');
        }""", section)
        return sorted(float(text.removesuffix(f"{SPACE}s")) for text in texts if re.fullmatch(rf"[0-9.]+{SPACE}s", text))

    def day(self, name, peak_bin, rate):
        """17,280 bins, one of which stands out: it is visible in all of the day, and by itself after zooming in."""
        analysis, page = self.analysis(name), self.open(name)
        path = self.folder / name / "report.html"
        print(f"check-report: {name}: {megabytes(path)}")
        self.holds(f"{name}: at most {MAX_BYTES_OF_A_DAY} bytes", path.stat().st_size <= MAX_BYTES_OF_A_DAY)
        bin_s = analysis["series"]["bin_s"]
        drawn = """() => {
            const chart = echarts.getInstanceByDom(document.querySelector('#bandwidth .chart [_echarts_instance_]'));
            const lanes = chart.getOption().series.map(it => it.data ?? []);
            return {
                highest: lanes.flat().reduce((most, [, value]) => Math.max(most, value ?? 0), 0),
                points: lanes.reduce((most, it) => Math.max(most, it.length), 0),
                at: lanes.flat().reduce((best, it) => (it[1] ?? 0) > (best[1] ?? 0) ? it : best)[0],
            };
        }"""
        self.chart(page, "bandwidth")
        whole = page.evaluate(drawn)
        self.holds(f"{name}: the peak is drawn as high as it is", abs(whole["highest"] / rate - 1) < 1e-5)
        self.holds(f"{name}: where it is", abs(whole["at"] - peak_bin * bin_s) < 86400 / 500)
        self.holds(f"{name}: no more points than pixels can show", whole["points"] < 3 * 1440)
        # It is there for the eye, too: pixels at three fifths of its height are coloured.
        page.locator("#bandwidth").screenshot(path=self.shots / "day.png")
        coloured = page.evaluate("""([at, rate]) => {
            const box = document.querySelector('#bandwidth .chart [_echarts_instance_]');
            const [x, y] = echarts.getInstanceByDom(box).convertToPixel({ gridIndex: 0 }, [at, rate * 0.6]);
            const source = box.querySelector('canvas');
            const scale = source.width / source.getBoundingClientRect().width;
            const image = source.getContext('2d').getImageData((x - 8) * scale, (y - 4) * scale, 16 * scale, 8 * scale).data;
            let found = 0;
            for (let i = 0; i < image.length; i += 4) {
                const rgb = [...image.slice(i, i + 3)];
                if (image[i + 3] > 60 && Math.max(...rgb) - Math.min(...rgb) > 60) found += 1;
            }
            return found;
        }""", [peak_bin * bin_s, rate])
        self.holds(f"{name}: the peak can be seen ({coloured} coloured pixels)", coloured >= 8)
        # Zoomed in by the address: two minutes around it.
        page.evaluate("([from, to]) => { location.hash = `bandwidth?t=${from}-${to}`; }", [(peak_bin - 12) * bin_s, (peak_bin + 12) * bin_s])
        page.wait_for_timeout(400)
        near = page.evaluate(drawn)
        self.holds(f"{name}: zoomed in, the bin begins where it does", abs(near["at"] - peak_bin * bin_s) < 1e-3 and abs(near["highest"] / rate - 1) < 1e-5)
        page.locator("#bandwidth").screenshot(path=self.shots / "day-zoomed.png")
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

    def narrowed(self, name):
        """Tables have the sums of what is selected, or say that they have not."""
        analysis = self.analysis(name)
        short = shortener(analysis)
        flows = [flow for flow in analysis["flows"] if flow["read"]["rpcs"] + flow["write"]["rpcs"]]
        client, target = flows[0]["nid"], next(flow["target"] for flow in flows if flow["target"])
        figures = lambda flow: [f"{flow['read']['rpcs']:,}", io_bytes(flow["read"]), f"{flow['write']['rpcs']:,}", io_bytes(flow["write"])]
        notes = lambda page: page.locator(".follows:visible").all_inner_texts()
        not_narrowed = lambda page, part, what: any(note.startswith(part) and what in note for note in notes(page))

        page = self.open(name, address=f"#?client={client}")
        self.table(page, name, "OSTs", {short(flow["target"]): figures(flow) for flow in flows if flow["nid"] == client and flow["target"]},
                   lambda cells: (cells[0], [cells[2], cells[3], cells[6], cells[7]]))
        self.holds(f"{name}: objects are of all clients", not_narrowed(page, "The figures of each object in this table", "clients"))
        self.holds(f"{name}: OSTs are of the client", not not_narrowed(page, "The figures of each OST", "clients"))
        self.close(page)

        page = self.open(name, address=f"#?target={target}")
        self.table(page, name, "Clients", {flow["nid"]: figures(flow) for flow in flows if flow["target"] == target},
                   lambda cells: (cells[0], cells[3:7]))
        self.close(page)

        page = self.open(name, address="#?t=0-0.001")
        for part in ("OST in this table", "object in this table"):
            self.holds(f"{name}: each {part} is of all of the time", not_narrowed(page, f"The figures of each {part}", "time"))
        self.close(page)
        page = self.open(name)
        self.equal(f"{name}: nothing to be said where nothing is selected", notes(page), [])
        self.close(page)

    def lock_facts(self, name):
        """What conflicts cost, OSTs and MDTs apart, of the selected targets alone."""
        analysis = self.analysis(name)
        locks = analysis["locks"]
        shown = lambda page: dict(page.evaluate("[...document.querySelectorAll('#locks .facts div')].map(it => [...it.children].map(cell => cell.innerText))"))
        targets = {row["target"]: row["totals"] for row in locks["targets"] if row["totals"]["conflicts"]}
        for address, osts, mdts in [("", locks["totals"], locks["mdt_totals"])] + [
                (f"#?target={target}", {} if "-MDT" in target else totals, totals if "-MDT" in target else {}) for target, totals in targets.items()]:
            page = self.open(name, address=address)
            facts = shown(page)
            for where, totals in (("OSTs", osts), ("MDTs", mdts)):
                expected = f"{totals.get('conflicts', 0):,}"
                key = "conflicts between clients on OSTs" if where == "OSTs" else "conflicts on MDTs"
                self.equal(f"{name}{address}: conflicts on {where}", facts.get(key, "0"), expected)
            self.equal(f"{name}{address}: hand-overs", facts["hand-overs"], f"{osts.get('handovers', 0):,}")
            self.equal(f"{name}{address}: hand-overs on MDTs", facts.get("hand-overs on MDTs", "0"), f"{mdts.get('handovers', 0):,}")
            self.close(page)
        page = self.open(name, address="#?t=0-0.001")
        notes = page.locator("#locks .follows:visible").all_inner_texts()
        self.holds(f"{name}: the sums are of all of the time", any(note.startswith("These figures") and "time" in note for note in notes))
        self.close(page)

    def findings(self, name):
        analysis, page = self.analysis(name), self.open(name)
        finding = analysis["findings"][0]
        self.equal(f"{name}: verdict", page.locator("#verdict").inner_text().replace("\n", ""), f"▲Critical. {finding['title']}.")
        card = page.locator(".card").first
        text = card.inner_text()
        for words in (finding["title"], finding["explanation"], "4.2\u202fs", "lfs setstripe -S 4M FILE", finding["clients"][0], finding["objects"][0]["fid"], "127", "lioprof explain made-up"):
            self.holds(f"{name}: the card says {words}", words in text)
        card.get_by_role("link").click()
        # All views are drawn anew first, which takes its time where the machine has other things to do.
        for _ in range(50):
            page.wait_for_timeout(200)
            if page.locator("#lock-timeline h2").bounding_box()["y"] < 500:
                break
        chosen = self.selected(page)
        self.equal(f"{name}: the link selects a time and marks whom the finding names", chosen, {"t": ["5-8.5"], "finding": ["1"]})
        self.equal(f"{name}: the chip names the finding", page.locator(".chip").all_inner_texts()[1].split("\n")[0], finding["title"])
        fought = page.locator("[aria-label='Objects that clients fight over'] tbody tr")
        self.holds(f"{name}: the object comes first, marked", finding["objects"][0]["fid"] in fought.first.inner_text() and "accused" in fought.first.get_attribute("class"))
        top = page.locator("#lock-timeline h2").bounding_box()["y"]
        bar = page.locator(".toolbar").bounding_box()
        self.holds(f"{name}: the link shows its view ({top:.0f}), below the bar ({bar['y'] + bar['height']:.0f})", bar["y"] + bar["height"] <= top < 500)
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

    def ceilings(self, name):
        """The dashed lines of `--baseline`: what the OSTs in use can deliver together, and each of them."""
        page = self.open(name)
        self.chart(page, "bandwidth")
        dashed = page.evaluate("""() => {
            const { series } = echarts.getInstanceByDom(document.querySelector('#bandwidth .canvas')).getOption();
            return series.filter(it => it.lineStyle?.type === 'dashed').map(it => [it.xAxisIndex, it.data.map(at => at[1] / 2 ** 20)]);
        }""")
        # The survey of scripts/check-report: 120 MiB/s read and 100 written, with four OSTs.
        self.equal(f"{name}: ceilings of all OSTs, then of each", dashed,
                   [[0, [120, 120]], [0, [100, 100]]] + [[lane, [rate, rate]] for lane in range(1, 5) for rate in (30, 25)])
        page.screenshot(path=self.shots / "ceilings.png")
        page.get_by_role("button", name="Writes", exact=True).click()
        left = page.evaluate("""() => echarts.getInstanceByDom(document.querySelector('#bandwidth .canvas')).getOption().series
            .filter(it => it.lineStyle?.type === 'dashed').length""")
        self.equal(f"{name}: only those of writes are left", left, 5)
        self.close(page)

    def times(self, name):
        """A start that rounding has put before the log is rounded to 0, without a sign."""
        analysis, page = self.analysis(name), self.open(name)
        self.holds(f"{name}: the account begins before the log", -0.5 < analysis["time_account"]["series"]["start"] - analysis["window"]["start"] < 0)
        box = self.chart(page, "account").locator(".canvas").bounding_box()
        shown = ""
        for x in range(40, 200):
            page.mouse.move(box["x"] + x, box["y"] + 80)
            if page.locator("#tip").is_visible():
                shown = page.locator("#tip strong").inner_text().replace(SPACE, " ")
                break
        self.holds(f"{name}: it is shown to begin at 0 ({shown})", re.match(r"0\.0+ s to ", shown))
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

    def events_alone(self, name, title):
        """A kernel log alone: its events first, and no figures of requests."""
        page, analysis = self.open(name), self.analysis(name)
        self.equal(f"{name}: title", page.locator("h1").inner_text(), title)
        kinds = {row["kind"].replace("_", " ") for row in analysis["events"]}
        self.equal(f"{name}: tiles", set(page.locator("dl.totals dt").all_inner_texts()), kinds)
        views = page.locator("main > section")
        self.equal(f"{name}: first view", views.first.get_attribute("id"), "events")
        order = views.evaluate_all("all => all.map((one) => one.classList.contains('without'))")
        self.holds(f"{name}: views that have nothing to show come last", order == sorted(order) and any(order))
        self.close(page)

    def text_only(self, name):
        """Names out of a log stay text."""
        page = self.open(name)
        self.holds(f"{name}: a job's name is text", "<script>alert(\"no\")</script>" in page.locator("[aria-label='Jobs']").inner_text())
        self.equal(f"{name}: elements made of names", page.locator("main script, main b:not(.chip b)").count(), 0)
        self.close(page)

    def pictures(self):
        for name, width, height, scheme, scale in (("lock_pingpong_dlm", 1440, 900, "light", 1), ("lock_pingpong_dlm", 390, 844, "light", 2),
                                                   ("ops_mix", 1440, 900, "dark", 1), ("file_per_process", 1440, 900, "light", 1), ("large", 1440, 900, "light", 1),
                                                   ("large", 2560, 1440, "dark", 1), ("large", 390, 844, "dark", 2), ("empty", 1440, 900, "light", 1), ("few", 1440, 900, "light", 1)):
            self.picture(name, width, height, scheme, scale)
