"""How the page of an analysis is read: its clock, what it gives away, what the pointer shows."""

import csv
import datetime
import io
import re

from analysis import AnalysisPages
from text import SPACE, human_bytes


class ReadingPages(AnalysisPages):

    def labels(self, page, section):
        """All texts that a view's chart has drawn."""
        self.chart(page, section)
        return page.evaluate("""section => echarts.getInstanceByDom(document.querySelector(`#${section} .chart [_echarts_instance_]`))
            .getZr().storage.getDisplayList().map(it => it.style?.text ?? '')""", section)

    def clock(self, name):
        """The same moments since the start, in UTC and in local time: axes, tables, findings, the pointer, the address."""
        analysis = self.analysis(name)
        start = analysis["window"]["start"]
        when = lambda s, zone=0, form="%H:%M:%S": datetime.datetime.fromtimestamp(start + s + zone, datetime.UTC).strftime(form)
        page = self.open(name, timezone="America/New_York")
        interval = [it - start for it in (analysis["findings"][0]["interval"][key] for key in ("start", "end"))]
        card = page.locator(".card .about")
        self.holds(f"{name}: a finding since the start", f"{interval[0]:.1f}{SPACE}s to" in card.first.inner_text())
        for clock, zone, sign in (("utc", 0, "UTC"), ("local", -5 * 3600, "-05:00")):
            page.locator(".choice", has_text="Times").locator("select").select_option(clock)
            self.equal(f"{name}: the address names the clock", self.selected(page), {"clock": [clock]})
            times = [text for text in self.labels(page, "bandwidth") if re.match(r"\d\d:\d\d:\d\d", text)]
            step = 1
            self.holds(f"{name}: {clock} says which clock it is ({times})", len(times) > 3 and sign in " ".join(times))
            seconds = sorted(int(text[6:8]) + 60 * int(text[3:5]) for text in times)
            steps = {after - before for before, after in zip(seconds, seconds[1:])}
            self.holds(f"{name}: {clock} has round times", len(steps) == 1 and seconds[0] % steps.pop() == 0)
            self.equal(f"{name}: {clock} begins when the capture does", sorted(times)[0][:5], when(step, zone, "%H:%M"))
            self.holds(f"{name}: {clock} of a finding", f"{when(interval[0], zone)}" in card.first.inner_text() and sign in card.first.inner_text())
            self.holds(f"{name}: {clock} of the marks", when(analysis["markers"][0]["time"] - start, zone) in page.locator(".marks").inner_text())
            self.equal(f"{name}: links keep the clock", set(page.evaluate("[...document.querySelectorAll('nav a, a.show')].map(it => /clock=(\\w+)/.exec(it.href)?.[1])")), {clock})
        page.screenshot(path=self.shots / "clock.png")
        self.close(page)
        page = self.open(name, address="#?clock=utc")
        found = self.labels(page, "bandwidth")
        self.holds(f"{name}: a link has the clock of its sender", any(text.startswith(when(step, 0, "%H:%M")) for text in found))
        page.get_by_role("button", name="Zoom in").click()
        page.get_by_role("button", name="Clear all").click()
        self.equal(f"{name}: the clock is no selection", self.selected(page), {"clock": ["utc"]})
        self.close(page)

    def dates_of_events(self, name):
        """Events alone have dates, unless they are wanted otherwise."""
        analysis, page = self.analysis(name), self.open(name, timezone="Asia/Kolkata")
        first = min(row["time"] for row in analysis["events"] if row["time"] is not None)
        cell = page.locator("[aria-label='Events'] tbody th").first
        day = lambda zone: datetime.datetime.fromtimestamp(first + zone, datetime.UTC).strftime("%Y-%m-%dT%H:%M:%S")
        self.holds(f"{name}: in UTC", cell.inner_text().startswith(day(0)) and cell.inner_text().endswith("Z"))
        page.locator(".choice", has_text="Times").locator("select").select_option("local")
        self.holds(f"{name}: in local time", cell.inner_text().startswith(day(19800)) and cell.inner_text().endswith("+05:30"))
        page.locator(".choice", has_text="Times").locator("select").select_option("start")
        self.holds(f"{name}: since the start", cell.inner_text().startswith("0"))
        self.close(page)

    def pointer(self, name):
        """A single RPC under the pointer: the moment, its job, its disk and network parts, which add up."""
        analysis, page = self.analysis(name), self.open(name)
        chart = self.chart(page, "timeline")
        box = chart.locator(".canvas").bounding_box()
        jobs = {it["job"] for it in analysis["jobs"]}
        day = datetime.datetime.fromtimestamp(analysis["window"]["start"], datetime.UTC).strftime("%Y-%m-%d")
        seen = 0
        for step in range(200, 1000):
            page.mouse.move(box["x"] + box["width"] * step / 1000, box["y"] + 20 + step % 60)
            text = page.locator("#tip").inner_text() if page.locator("#tip").is_visible() else ""
            job = re.search(r"job\s+(\S+)", text)
            if not job:
                continue
            self.holds(f"{name}: its job is one of the capture ({job[1]})", job[1] in jobs)
            self.holds(f"{name}: the moment is told in full", re.search(day + r" [\d:.]+ UTC, .* since start", text))
            parts = re.findall(r"(before|transfer|after)[a-z ]*( \((?:disk|network)\))?\s+([\d.]+)\u202f(µs|ms|s)\b", text)
            if parts:
                us = lambda value, unit: float(value) * {"µs": 1, "ms": 1e3, "s": 1e6}[unit]
                handled = us(*re.search(r"handled\s+([\d.]+)\u202f(µs|ms|s)\b", text).groups())
                self.holds(f"{name}: parts add up ({text})", abs(sum(us(*part[2:]) for part in parts) / handled - 1) < 0.03)
                self.equal(f"{name}: disk and network are named", sorted(part[1] for part in parts), ["", " (disk)", " (network)"])
                seen += 1
            if seen > 3:
                break
        self.holds(f"{name}: parts were seen", seen > 0)
        page.screenshot(path=self.shots / "pointer.png")
        self.close(page)

    @staticmethod
    def saved(page, button):
        """The name and the content of a file that a button saves."""
        with page.expect_download() as download:
            button.click()
        return download.value.suggested_filename, open(download.value.path(), "rb").read()

    def search(self, name):
        """A long table shows what is searched for; so does its CSV, in the units that its header says, and a link."""
        analysis, page = self.analysis(name), self.open(name)
        table = page.locator("[aria-label='Clients']")
        rows = analysis["clients"]
        part = rows[0]["nid"].split("@")[0][:-1]
        field = page.get_by_role("searchbox", name="Search in Clients")
        field.fill(part.upper())
        found = table.locator("tbody th").all_inner_texts()
        self.holds(f"{name}: rows that have it ({found})", found and all(part in text for text in found))
        self.equal(f"{name}: nothing of the others", table.locator("tr.others").count(), 0)
        self.equal(f"{name}: the address has it", self.selected(page)["find:Clients"], [part.upper()])
        page.get_by_role("link", name="Latency").click()
        # The browser tells of the new address only then.
        page.wait_for_timeout(200)
        self.equal(f"{name}: links within the page keep it", self.selected(page)["find:Clients"], [part.upper()])
        file, text = self.saved(page, page.locator("[aria-label='Clients'] ~ .table-foot").first.get_by_role("button", name="CSV"))
        lines = list(csv.DictReader(io.StringIO(text.decode())))
        self.equal(f"{name}: the file of the table", file, "clients.csv")
        known = {row["nid"]: row for row in rows}
        self.holds(f"{name}: the file has all that was found", len(lines) >= len(found) and all(part in line["client"] for line in lines))
        for line in lines:
            row = known[line["client"]]
            self.equal(f"{name}: figures in the file", (line["read_bytes"], line["writes"], line["server_time_us"]),
                       (str(row["read"]["bytes"]), str(row["write"]["rpcs"]), str(sum(row["service_us"].values()) or "")))
        address = page.evaluate("location.hash")
        self.close(page)
        page = self.open(name, address=address)
        self.equal(f"{name}: a link finds the same", page.locator("[aria-label='Clients'] tbody th").all_inner_texts(), found)
        page.get_by_role("searchbox", name="Search in Clients").fill("nobody at all")
        self.holds(f"{name}: nothing found is said", "nobody at all" in page.locator("#matrix .empty:visible").inner_text())
        self.close(page)

    def pictures_saved(self, name):
        """A chart as PNG and SVG: with its heading, legend, lanes; the page's other scale stays."""
        page = self.open(name)
        for section, words in (("bandwidth", ["OST0000", "read", "written", "MiB/s"]), ("matrix", ["10.10.0.11@tcp"]), ("timeline", ["write, handled"])):
            chart = self.chart(page, section)
            width = chart.bounding_box()["width"]
            chart.hover()
            file, content = self.saved(page, chart.get_by_role("button", name="PNG"))
            self.holds(f"{name}: {section} as PNG ({file})", file.endswith(".png") and content.startswith(b"\x89PNG") and len(content) > 5_000)
            self.holds(f"{name}: {section} twice as wide as on the page", int.from_bytes(content[16:20]) >= 2 * width)
            file, content = self.saved(page, chart.get_by_role("button", name="SVG"))
            text = content.decode().replace(SPACE, " ")
            heading = page.locator(f"#{section} h2").inner_text()
            self.holds(f"{name}: {section} as SVG", file.endswith(".svg") and text.startswith("<svg"))
            for word in [heading, *words]:
                self.holds(f"{name}: {section} as SVG has {word}", word in text)
        self.equal(f"{name}: the bar's chart is not offered", page.locator(".overview .chart-tools").count(), 0)
        self.close(page)

    def hiding(self, name):
        """An entry of a legend hides its series and shows it again; the scale follows, the address remembers."""
        page = self.open(name)
        before = self.label(page, "bandwidth")
        entry = lambda page, section, text: page.locator(f"#{section} .legend").get_by_role("button", name=text, exact=True)
        for section, text in (("bandwidth", "read"), ("queue", "waiting for a thread"), ("timeline", "write, handled"), ("sizes", "writes")):
            was = self.label(page, section)
            entry(page, section, text).click()
            self.equal(f"{name}: {section} without {text}", entry(page, section, text).get_attribute("aria-pressed"), "false")
            self.holds(f"{name}: {section} draws less", self.label(page, section) != was)
        self.equal(f"{name}: the address has it", self.selected(page)["hide:bandwidth"], ["read"])
        hidden, address = self.label(page, "bandwidth"), page.evaluate("location.hash")
        entry(page, "bandwidth", "read").click()
        self.equal(f"{name}: it comes back", self.label(page, "bandwidth"), before)
        self.close(page)
        page = self.open(name, address=address)
        self.equal(f"{name}: a link hides the same", self.label(page, "bandwidth"), hidden)
        self.close(page)

    def all_lanes(self, name):
        """What the pointer shows of one lane, it shows of the others, too."""
        analysis, page = self.analysis(name), self.open(name)
        chart = self.chart(page, "bandwidth")
        box = chart.locator(".canvas").bounding_box()
        series = analysis["series"]
        offset = series["start"] - analysis["window"]["start"]
        osts = {row["name"].split("-")[1]: row for row in series["targets"] if row["name"] and row["kind"] == "ost"}
        seen = 0
        for step in range(20, 95):
            page.mouse.move(box["x"] + box["width"] * step / 100, box["y"] + 60)
            text = page.locator("#tip").inner_text().replace(SPACE, " ") if page.locator("#tip").is_visible() else ""
            if "at the same time" not in text:
                continue
            start = float(re.search(r", ([\d.]+) (m?s) to", text)[1])
            at = round((start - offset) / series["bin_s"])
            shown = dict(re.findall(r"(OST\d{4})\s+(.*)/s", text.split("at the same time")[1]))
            self.equal(f"{name}: all lanes are there", sorted(shown), sorted(osts))
            if not 1 < at < series["bins"] - 2:
                continue
            for ost, value in shown.items():
                moved = osts[ost]["read_bytes"][at] + osts[ost]["write_bytes"][at]
                self.equal(f"{name}: {ost} at {start} s", value, human_bytes(round(moved / series["bin_s"])).replace(SPACE, " "))
                seen += moved > 0
        self.holds(f"{name}: there was something to see", seen > 3)
        self.close(page)

    def keys_anywhere(self, name):
        """Keys zoom and move wherever the focus is, but in fields and tables."""
        page = self.open(name)
        page.keyboard.press("+")
        self.holds(f"{name}: + zooms without a focus", "t" in self.selected(page))
        page.get_by_label("from, seconds since start").focus()
        page.keyboard.press("0")
        self.holds(f"{name}: a digit in a field is a digit", "t" in self.selected(page))
        page.locator("h1").click()
        page.keyboard.press("0")
        self.equal(f"{name}: 0 shows all", self.selected(page), {})
        self.close(page)

    def head(self, name):
        """The head says what the capture is of."""
        analysis, page = self.analysis(name), self.open(name)
        facts = dict(page.evaluate("[...document.querySelectorAll('.capture div')].map(it => [...it.children].map(one => one.innerText))"))
        self.equal(f"{name}: file system", facts["file system"], ", ".join(sorted({row["name"].rsplit("-", 1)[0] for row in analysis["targets"]})))
        for node in analysis["nodes"]:
            self.equal(f"{name}: {node['name']} is named", node["name"] in facts["servers"], node["role"] != "client")
        self.holds(f"{name}: files", facts["logs"].startswith(f"{len(analysis['inputs'])} file"))
        self.equal(f"{name}: masks", facts["masks that they have lines of"], "rpctrace, dlmtrace, net")
        self.close(page)

    def common_sizes(self, name):
        """The most common sizes are those of the histograms."""
        analysis, page = self.analysis(name), self.open(name)
        sums = {}
        for row in (row for row in analysis["targets"] if row["kind"] == "ost"):
            for way in ("read", "write"):
                for bucket in row[way]["size_hist"]:
                    sums[way, bucket["le_bytes"]] = sums.get((way, bucket["le_bytes"]), 0) + bucket["rpcs"]
        shown = page.evaluate("""() => [...document.querySelectorAll("[aria-label='The most common sizes'] tbody tr")].map(row => [...row.cells].map(it => it.innerText))""")
        self.equal(f"{name}: the most common first", [int(cells[2].replace(",", "")) for cells in shown], sorted(sums.values(), reverse=True)[:6])
        self.close(page)

    @staticmethod
    def option(page, section):
        """What a view's chart draws."""
        return page.evaluate("""section => {
            const it = echarts.getInstanceByDom(document.querySelector(`#${section} .chart [_echarts_instance_]`)).getOption();
            const axis = (one) => ({ min: one.min, max: one.max, data: one.data ?? [] });
            return { grid: it.grid.map(one => [one.left, one.right]), x: it.xAxis.map(axis), y: it.yAxis.map(axis), titles: (it.title ?? []).map(one => one.text) };
        }""", section)

    def account(self, name):
        """Where the time went has the axis of the chart below it; what is most of it can be helped."""
        analysis, page = self.analysis(name), self.open(name)
        for zoomed in (False, True):
            both = [(self.chart(page, section), self.option(page, section))[1] for section in ("account", "bandwidth")]
            places = [(it["grid"][0], it["x"][0]["min"], it["x"][0]["max"]) for it in both]
            self.equal(f"{name}: the same place and range, zoomed {zoomed}", places[0], places[1])
            if not zoomed:
                self.drag(page, self.chart(page, "account"), 0.3, 0.5)
                self.holds(f"{name}: a drag over it zooms", "t" in self.selected(page))
        spent = analysis["time_account"]["all"]["spent"]
        sums = {}
        for it in spent:
            key = (it["on"], it["target"]) if it["on"] == "bulk" else (it["on"], None)
            sums[key] = sums.get(key, 0) + it["us"]
        self.holds(f"{name}: most of the time there was no request", max(sums, key=sums.get)[0] == "nothing")
        most = max((key for key in sums if key[0] not in ("nothing", "unknown")), key=sums.get)
        shown = page.locator("[aria-label='Where the time went'] tbody tr", has_text="all clients").last.locator("td").last.inner_text()
        self.holds(f"{name}: what can be helped is named ({shown})", (most[1] or "") in shown and "no request" not in shown)
        page.screenshot(path=self.shots / "account.png")
        self.close(page)

    def proof(self, name):
        """The finding of a slow OST leads to disk and network: its OST first, marked, beside its peers."""
        analysis, page = self.analysis(name), self.open(name)
        target = analysis["findings"][0]["targets"][0]
        page.locator(".card").first.get_by_role("link").click()
        page.wait_for_timeout(500)
        self.holds(f"{name}: disk and network", page.evaluate("location.hash").startswith("#parts"))
        shown, span = [float(it) for it in self.selected(page)["t"][0].split("-")], analysis["window"]["duration_s"]
        self.holds(f"{name}: a moment is shown with what was around it ({shown})", span / 51 < shown[1] - shown[0] < span / 49)
        rows = page.evaluate("""() => [...document.querySelectorAll("[aria-label='Parts of the service time'] tbody tr")]
            .map(row => [row.cells[0].innerText, row.className, row.cells[1].innerText])""")
        mine = [row for row in rows if row[0] == target]
        self.equal(f"{name}: it comes first, marked", [(row[0], "accused" in row[1]) for row in rows[:len(mine)] if row[2] == "OST"], [(target, True)] * len(mine))
        self.holds(f"{name}: its peers are there", {row[0] for row in rows if row[2] == "OST"} > {target})
        self.equal(f"{name}: those of no finding have no mark", {row[0] for row in rows if row[2] == "OST" and row[1]}, {target})
        page.screenshot(path=self.shots / "proof.png")
        page.locator(".chip", has_text="One OST is slow").click()
        self.equal(f"{name}: its chip takes the finding back", set(self.selected(page)), {"t"})
        self.close(page)

    def accused(self, name):
        """Of a thousand OSTs the one that a finding names is in the picture, and first; sums of others are no measure for one."""
        analysis, page = self.analysis(name), self.open(name)
        finding, short = analysis["findings"][0], lambda target: target.split("-")[1]
        target, client = short(finding["targets"][0]), finding["clients"][0]
        self.chart(page, "bandwidth")
        titles = self.option(page, "bandwidth")["titles"]
        self.equal(f"{name}: its lane is the first, marked", [text.split("|")[1].split("}")[0] for text in titles if "▲" in text], [f"▲ {target}"])
        self.holds(f"{name}: before those of the busiest", "▲" in titles[2])
        self.chart(page, "matrix")
        axes = self.option(page, "matrix")
        columns, rows = axes["x"][0]["data"], axes["y"][0]["data"]
        self.holds(f"{name}: it is in the matrix", target in columns and client in rows)
        self.holds(f"{name}: others are not counted", f"{len(rows) - 1} clients, {len(columns) - 1} OSTs" in self.label(page, "matrix"))
        sums = {}
        for flow in analysis["flows"]:
            if flow["target"] and short(flow["target"]) in columns and flow["nid"] in rows:
                key = flow["nid"], flow["target"]
                sums[key] = sums.get(key, 0) + flow["read"]["bytes"] + flow["write"]["bytes"]
        legend = page.locator("#matrix .legend .figure").last.inner_text()
        self.equal(f"{name}: the scale ends with the largest of single cells", legend, human_bytes(max(sums.values())))
        for label, first in (("OSTs", target), ("Clients", client)):
            row = page.locator(f"[aria-label='{label}'] tbody tr").first
            self.equal(f"{name}: {label} begin with it", (row.locator("th").inner_text().split("-")[-1], row.get_attribute("class")), (first, "accused"))
        self.chart(page, "bandwidth")
        page.screenshot(path=self.shots / "accused.png")
        self.close(page)

    def names_of_rows(self, name):
        """No row without a name; servers are no clients."""
        analysis, page = self.analysis(name), self.open(name)
        servers = [row["nid"] for row in analysis["clients"] if row["server"]]
        self.holds(f"{name}: servers sent requests, too", servers)
        rows = page.evaluate("[...document.querySelectorAll('.table tbody tr')].map(row => [row.closest('.table').ariaLabel, row.cells[0].innerText, row.cells[1]?.innerText])")
        self.equal(f"{name}: rows without a name", [row for row in rows if not row[1].strip()], [])
        self.holds(f"{name}: a job that clients named nothing", ["Jobs", "(none)"] in [row[:2] for row in rows])
        self.equal(f"{name}: servers among clients", [row for row in rows if row[1] in servers and (row[0] == "Clients" or row[2] == "client")], [])
        self.holds(f"{name}: what they sent is said", "that servers sent to each other" in page.locator("#matrix").inner_text())
        self.close(page)

    def legend_of_waiting(self, name):
        """Bars of what waits are in the legend with the colours that are drawn."""
        page = self.open(name)
        self.chart(page, "timeline")
        drawn = page.evaluate("""() => echarts.getInstanceByDom(document.querySelector('#timeline .chart [_echarts_instance_]'))
            .getZr().storage.getDisplayList().filter(it => it.type === 'rect').map(it => it.style.fill)""")
        legend = page.evaluate("""() => [...document.querySelectorAll('#timeline .legend .swatch')].map(it => getComputedStyle(it).backgroundColor)
            .map(rgb => '#' + rgb.match(/\\d+/g).map(n => Number(n).toString(16).padStart(2, '0')).join(''))""")
        self.equal(f"{name}: every colour of a bar is in the legend", set(it for it in drawn if isinstance(it, str) and it.startswith("#")) - set(legend), set())
        self.equal(f"{name}: and no other", len(set(legend)), 4)
        self.chart(page, "bandwidth")
        ticks = page.evaluate("""() => echarts.getInstanceByDom(document.querySelector('.overview .chart [_echarts_instance_]'))
            .getZr().storage.getDisplayList().map(it => it.style?.text ?? '')""")
        self.holds(f"{name}: the overview has its lowest and highest tick ({ticks})", "0" in ticks and any(text.endswith("/s") for text in ticks))
        self.close(page)

    def checks_without_io(self, name):
        """Checks of reads and writes are not listed where there were none; what does not apply is folded away."""
        analysis, page = self.analysis(name), self.open(name)
        page.locator(".checks > summary").click()
        shown = page.locator(".checks code:visible").all_inner_texts()
        results = {it["id"]: it["result"] for it in analysis["checks"]}
        self.equal(f"{name}: only what was judged", {results[it] for it in shown} & {"not_applicable"}, set())
        self.holds(f"{name}: nothing about libraries for reads and writes", "small-io-between-large" not in shown and "many-writers" not in shown)
        page.locator(".checks details summary").click()
        self.equal(f"{name}: all are there", sorted(page.locator(".checks code:visible").all_inner_texts()), sorted(results))
        self.close(page)
