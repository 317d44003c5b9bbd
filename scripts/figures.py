"""What scripts that measure have in common: the programs they need, where figures were taken, and the page of docs/ that they go
to, between two marks."""

import datetime
import os
import pathlib
import platform
import subprocess

BEGIN, END = "<!-- figures -->\n", "<!-- end of figures -->\n"


def needed(variable, script, *arguments):
    """The program that an environment variable names, else what a script beside this one makes or finds."""
    made = [pathlib.Path(__file__).with_name(script), *arguments]
    return os.environ.get(variable) or subprocess.run(made, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


def where():
    """Day and machine."""
    with open("/proc/cpuinfo", encoding="utf-8") as cpus:
        cpu = next((line.split(":")[1].strip() for line in cpus if line.startswith("model name")), "unknown CPU")
    memory_gib = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / (1 << 30)
    kernel = platform.release().split("-")[0]
    return f"{datetime.date.today()}, {cpu}, {os.cpu_count()} CPUs, {memory_gib:.0f} GiB, Linux {kernel}"


def write(page, text):
    """Replaces the figures of a page."""
    head, rest = page.read_text().split(BEGIN)
    page.write_text(head + BEGIN + text.rstrip("\n") + "\n" + END + rest.split(END)[1])
