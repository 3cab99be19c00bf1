"""What the scripts that compare programs share: a measured run, equality of answers, a picture."""

import math
import os
import re
import signal
import subprocess
import tempfile
import threading
import time


def run_once(command, timeout, errors=subprocess.DEVNULL, folder=None):
    """Runs a command; returns its wall and processor seconds, peak memory, status and output.

    `errors` is where its standard error goes; subprocess.STDOUT makes it part of the output. A
    command that takes longer than `timeout` seconds is ended, and raises TimeoutError.
    """
    with tempfile.TemporaryFile() as output:
        begin = time.perf_counter()
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output,
                                   stderr=errors, cwd=folder)
        # Not process.kill, which would wait for the process itself.
        timer = threading.Timer(timeout, os.kill, (process.pid, signal.SIGKILL))
        timer.start()
        _, status, usage = os.wait4(process.pid, 0)
        timer.cancel()
        wall = time.perf_counter() - begin
        process.returncode = os.waitstatus_to_exitcode(status)
        if wall >= timeout and process.returncode == -signal.SIGKILL:
            raise TimeoutError(f"{' '.join(command)} ran longer than {timeout} s")
        output.seek(0)
        text = output.read().decode(errors="replace")
    return {
        "wall": wall,
        "cpu": usage.ru_utime + usage.ru_stime,
        "memory": usage.ru_maxrss * 1024,
        "status": process.returncode,
        "output": text,
    }


def same_results(ours, peer, tolerance):
    """'yes', 'float' (equal within the tolerance) or 'no'."""
    if ours == peer:
        return "yes"
    left, right = ours.split(), peer.split()
    if len(left) != len(right):
        return "no"
    for a, b in zip(left, right):
        if a == b:
            continue
        if not re.search(r"[.en]", a + b):
            return "no"
        try:
            x, y = float(a), float(b)
        except ValueError:
            return "no"
        if math.isnan(x) and math.isnan(y):
            continue
        if not abs(x - y) <= tolerance * max(abs(x), abs(y), 1e-300):
            return "no"
    return "float"


def log_bars(bars, title, axis):
    """An SVG of horizontal bars from 1 on a logarithmic axis.

    A bar is (name, value, (least, greatest) or None, good); the range is drawn as a line.
    """
    longest = max(len(name) for name, *_ in bars)
    left, bar, gap = 20 + 6 * longest, 18, 8
    width = left + 500
    values = [v for _, value, spread, _ in bars for v in (value, *(spread or ()))]
    low = min(0.5, *values) / 1.1
    high = max(2.0, *values) * 1.1
    scale = (width - left - 80) / math.log(high / low)
    x = lambda value: left + math.log(value / low) * scale
    bottom = 40 + len(bars) * (bar + gap)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{bottom + 50}" '
           'font-family="sans-serif" font-size="12">',
           '<rect width="100%" height="100%" fill="white"/>',
           f'<text x="{left}" y="22" font-size="14">{title}</text>']
    tick = 2.0 ** math.ceil(math.log2(low))
    while tick <= high:
        out.append(f'<line x1="{x(tick):.1f}" y1="34" x2="{x(tick):.1f}" y2="{bottom}" '
                   f'stroke="{"#444" if tick == 1 else "#ddd"}"/>')
        out.append(f'<text x="{x(tick):.1f}" y="{bottom + 16}" text-anchor="middle">{tick:g}</text>')
        tick *= 2
    for k, (name, value, spread, good) in enumerate(bars):
        y = 40 + k * (bar + gap)
        begin, end = sorted((x(1.0), x(value)))
        out.append(f'<text x="{left - 8}" y="{y + bar - 5}" text-anchor="end">{name}</text>')
        out.append(f'<rect x="{begin:.1f}" y="{y}" width="{end - begin:.1f}" height="{bar}" '
                   f'fill="{"#0072b2" if good else "#d55e00"}"/>')
        if spread:
            out.append(f'<line x1="{x(spread[0]):.1f}" y1="{y + bar / 2}" '
                       f'x2="{x(spread[1]):.1f}" y2="{y + bar / 2}" stroke="black"/>')
        edge = max(end, x(spread[1])) if spread else end
        out.append(f'<text x="{edge + 6:.1f}" y="{y + bar - 5}">{value:.1f}</text>')
    out.append(f'<text x="{left}" y="{bottom + 36}">{axis}</text>')
    out.append("</svg>")
    return "\n".join(out) + "\n"
