"""The functions of web/format.js against the program's own code."""

import pathlib
import random
import re

from browser import Pages
from text import shown

SCRIPT = pathlib.Path(__file__).parents[2] / "crates/lioprof-report/web/format.js"

# Sizes of units, and where another unit or number of digits begins.
SIZES = (1, 1e3, 1e6, 60e6, 3600e6, 1e9, 1e12, 1024, 1024**2, 1024**3, 1024**5)
LIMITS = (0, 5e-5, 0.05, 0.0995, 0.5, 0.9995, 1, 1.5, 2.345, 3, 9.95, 9.995, 12.5, 99.5, 99.95, 100, 119.99, 120, 234.5, 999.4, 999.5, 1000)
SHARES = (0, 1e-4, 5e-4, 9.5e-4, 0.00125, 0.0305, 0.0949, 0.0995, 0.125, 0.5, 0.985, 0.9949, 0.995, 0.9951, 0.9992, 0.99949, 0.9995, 0.99999, 1, 8.99, 9, 11.5, 120)
KEYS = "bytes, byteRate, roundBytes, short, count, number, micros, seconds, percent, changeText, rangeText, date"


class Formats(Pages):
    file = "report.html"

    def same_texts(self, name):
        """At every limit of the rules, next to it, and anywhere else."""
        html = (self.folder / name / self.file).read_text()
        page = self.browser.new_page()
        page.set_content(re.search(r"<script[^>]* id=\"rules\">.*?</script>", html)[0])
        table = list(self.values())
        found = page.evaluate("""([script, names, table]) => {
            const forms = new Function(`${script}; return {${names}};`)();
            return table.map(([form, ...of]) => forms[form](...of));
        }""", [SCRIPT.read_text(), KEYS, table])
        for row, text in zip(table, found, strict=True):
            self.equal(f"{name}: {row}", text, shown(*row))
        page.close()

    @staticmethod
    def values():
        any_number = random.Random(7)
        amounts = [near * limit * size for size in SIZES for limit in LIMITS for near in (1, 1 - 1e-9, 1 + 1e-9)]
        amounts += [10 ** any_number.uniform(-4, 15) for _ in range(300)]
        for form in ("short", "number", "micros", "seconds", "byteRate"):
            yield from ([form, amount] for amount in amounts)
        yield from (["number", -amount] for amount in amounts if amount)
        for amount in amounts:
            # As data have them: beyond 2^53 as texts.
            whole = round(amount) if amount <= 2**53 else str(round(amount))
            yield ["bytes", whole]
            yield ["count", whole]
            if amount:
                yield ["roundBytes", amount]
        shares = [near * share for share in SHARES for near in (1, 1 - 1e-9, 1 + 1e-9)] + [any_number.random() for _ in range(300)]
        yield from (["percent", share] for share in shares)
        changes = [sign * share for share in shares for sign in (-1, 1) if sign * share >= -1]
        yield from (["changeText", change] for change in changes)
        for _ in range(500):
            low, high = sorted(any_number.choices([None, *changes], k=2), key=lambda it: -2 if it is None else it)
            yield ["rangeText", low, high]
            yield ["rangeText", low, None]
        yield from (["date", unix] for unix in (0, 0.0004, 1.5, 1795250701, 1795250701.0625, 253402300799))
