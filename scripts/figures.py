"""What scripts that measure put into a page of docs/: figures between two marks, and where they were taken."""

import datetime
import os
import platform

BEGIN, END = "<!-- figures -->\n", "<!-- end of figures -->\n"


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
