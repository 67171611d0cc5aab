#!/usr/bin/env python3
"""Draws the ratios of results.json:  charts.py [RESULTS]  (default bench/out/results.json)

Writes ratios-encode.svg and ratios-decode.svg beside it: a row for each case, a dot for each peer at its time by bjvm's
(right of 1: bjvm is faster), a ring for other ways of bjvm, a line from quartile to quartile; the last row is the geometric
mean, of yyjson and simdjson without map and struct. The axis is logarithmic. No dependencies."""
import json
import math
import sys
from html import escape
from pathlib import Path

ROW, LEFT, RIGHT, TOP, PLOT = 26, 96, 150, 84, 640
# In the order of the legend; a peer that is not named here gets a grey.
COLORS = {"upb": "#c2410c", "upb_binary": "#7c3aed", "yyjson": "#0369a1", "simdjson": "#ca8a04", "cpp": "#be185d",
          "bjvm_loaded": "#6b7280", "bjvm_alias": "#65a30d", "bjvm_padded": "#06b6d4"}
TICKS = (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500)


def rows_of(results, direction):
    """[(case, {peer: (ratio, q1, q3)})], the mean at the end."""
    rows = []
    for case in results["meta"]["cases"]:
        peers = results["cases"][case].get(direction, {})
        rows.append((case, {p: (f["ratio"], f["q1"], f["q3"]) for p, f in peers.items() if p != "bjvm"}))
    means = results["geomean"][direction]
    return rows + [("geomean", {p: (mean,) * 3 for p, mean in means.items() if p != "bjvm"})]


class Axis:
    def __init__(self, rows):
        values = [v for _, peers in rows for ratio in peers.values() for v in ratio]
        lo, hi = min(values + [0.9]), max(values + [1.1])
        self.lo = max(t for t in (0.01, *TICKS) if t <= lo)
        self.hi = min(t for t in (*TICKS, 1e4) if t >= hi)

    def x(self, value):
        return LEFT + PLOT * math.log(value / self.lo) / math.log(self.hi / self.lo)

    def ticks(self):
        return [t for t in TICKS if self.lo <= t <= self.hi]


def text(x, y, content, **attributes):
    extra = "".join(f' {name.replace("_", "-")}="{value}"' for name, value in attributes.items())
    return f'<text x="{x:.1f}" y="{y:.1f}"{extra}>{escape(str(content))}</text>'


def grid(axis, bottom):
    out = []
    for tick in axis.ticks():
        x = axis.x(tick)
        one = tick == 1
        out.append(f'<line x1="{x:.1f}" y1="{TOP - 6}" x2="{x:.1f}" y2="{bottom}" stroke="{"#111" if one else "#ddd"}" '
                   f'stroke-width="{1.5 if one else 1}"/>')
        out.append(text(x, bottom + 16, f"{tick:g}x", text_anchor="middle", fill="#555"))
    return out


def dot(x, y, size, peer, color, inside=""):
    """A disc; for a way of bjvm a ring, which does not hide what it lies on."""
    look = f'fill="none" stroke="{color}" stroke-width="2"' if peer.startswith("bjvm") else f'fill="{color}"'
    return f'<circle cx="{x:.1f}" cy="{y}" r="{size}" {look}>{inside}</circle>'


def draw_row(axis, y, name, peers, colors):
    weight = "bold" if name == "geomean" else "normal"
    out = [text(LEFT - 10, y + 4, name, text_anchor="end", font_weight=weight)]
    for peer, (ratio, low, high) in peers.items():
        x, color = axis.x(ratio), colors[peer]
        title = f"<title>{escape(peer)} on {escape(name)}: {ratio:.2f} [{low:.2f} {high:.2f}]</title>"
        out.append(f'<line x1="{axis.x(low):.1f}" y1="{y}" x2="{axis.x(high):.1f}" y2="{y}" stroke="{color}" stroke-width="2"/>')
        out.append(dot(x, y, 6 if name == "geomean" else 4.5, peer, color, title))
    return out


def chart(results, direction):
    rows = rows_of(results, direction)
    found = dict.fromkeys(p for _, peers in rows for p in peers)
    peers = [p for p in COLORS if p in found] + [p for p in found if p not in COLORS]
    colors = {p: COLORS.get(p, "#6b7280") for p in peers}
    axis = Axis(rows)
    bottom = TOP + ROW * len(rows)
    width, height = LEFT + PLOT + RIGHT, bottom + 44
    meta = results["meta"]
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
           'font-family="sans-serif" font-size="13">', f'<rect width="{width}" height="{height}" fill="white"/>',
           text(LEFT, 26, f"{direction}: time of the peer / time of bjvm", font_size=18, font_weight="bold"),
           text(LEFT, 46, f"{meta['cpu']}; {meta['compiler']}, {meta['flags']}; kernels {meta['kernels']}", fill="#555"),
           text(LEFT, 64, "right of 1x: bjvm is faster; lines: quartiles; geomean of yyjson and simdjson without map and struct",
                fill="#555")]
    out += grid(axis, bottom)
    for number, (name, ratios) in enumerate(rows):
        y = TOP + ROW * number + ROW // 2
        if name == "geomean":
            out.append(f'<line x1="{LEFT}" y1="{y - ROW / 2}" x2="{LEFT + PLOT}" y2="{y - ROW / 2}" stroke="#999"/>')
        out += draw_row(axis, y, name, {p: ratios[p] for p in peers if p in ratios}, colors)
    for number, peer in enumerate(peers):
        y = TOP + 12 + 22 * number
        out.append(dot(LEFT + PLOT + 24, y, 5, peer, colors[peer]))
        out.append(text(LEFT + PLOT + 36, y + 4, peer))
    return "\n".join(out + ["</svg>"]) + "\n"


def main():
    if len(sys.argv) > 2 or sys.argv[1:] in (["-h"], ["--help"]):
        print(__doc__)
        return 0 if len(sys.argv) == 2 else 2
    path = Path(sys.argv[1]) if len(sys.argv) == 2 else Path(__file__).resolve().parent / "out/results.json"
    results = json.loads(path.read_text())
    for direction in ("encode", "decode"):
        path.with_name(f"ratios-{direction}.svg").write_text(chart(results, direction))
        print(path.with_name(f"ratios-{direction}.svg"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
