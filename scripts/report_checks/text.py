"""Figures as the pages show them, made by other code than theirs."""

import re

SPACE = "\u202f"


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
