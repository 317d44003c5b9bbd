"""Figures as the pages show them, written by the program's own code: the example `texts` of lioprof-report."""

import functools
import json
import os
import re
import subprocess

SPACE = "\u202f"


@functools.cache
def program():
    return subprocess.Popen([os.environ["LIOPROF_TEXTS"]], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8")


def written(form, *of):
    """As tables and plots have it; `form` is a function of web/format.js."""
    print(json.dumps([form, *(it if it is None else str(it) for it in of)]), file=program().stdin, flush=True)
    return json.loads(program().stdout.readline())


def shown(form, *of):
    """The same with a page's signs: narrow spaces before units, a minus, a cross."""
    text = re.sub(r"(?<=\d) (?=([KMGTPE]i)?B|%|µs|ms|s$|min|h$)", SPACE, written(form, *of))
    return re.sub(r"^x ", f"×{SPACE}", re.sub(r"(^|[.<> ])-", r"\1−", text) if form in ("changeText", "rangeText") else text).replace(" x ", f" ×{SPACE}")


def megabytes(path):
    return f"{path.stat().st_size / 1e6:.2f} MB"


def count_in(label):
    return int(re.search(r"([\d,]+) RPC", label)[1].replace(",", "")) if re.search(r"([\d,]+) RPC", label) else 0


def shortener(analysis):
    systems = {re.split(r"-(?=OST|MDT)", row["name"])[0] for row in analysis["targets"]}
    return lambda name: name.removeprefix(f"{systems.copy().pop()}-") if len(systems) == 1 else name


def human_bytes(value):
    return shown("bytes", round(value))


def io_bytes(io):
    return shown("ioBytes", json.dumps(io))


def exactly(io):
    return "unknown" if io["bytes"] is None else f"{io['bytes']:,} bytes in {io['rpcs']:,} RPC"


def micros(value):
    return "–" if value is None else shown("micros", value)


# What functions of web/format.js write values of figures, by what the figure is measured in.
FORMS = {"ByteRate": "byteRate", "Microseconds": "micros", "Seconds": "seconds", "Share": "percent", "Number": "number"}


def figure(key, value):
    """A value of a comparison's figure."""
    if value is None:
        return "?"
    measure = written("measure", key)
    return human_bytes(value) if measure == "Bytes" else shown(FORMS[measure], value)
