"""A picture that moves, of a charge: the page of a simulated meter from plugging in until it says that it is charged.

usage: Tests/Web/run moving [--bin FOLDER] FILE

A meterd reads a simulated UM25C whose current falls to half every 45 s, with a rule "current < 50mA for 5s". Chromium's screen is
taken every 3.5 s, and the screens become an animated PNG (https://www.w3.org/TR/png-3/#apng-frame-based-animation): in a palette,
by pngquant, each as the rectangle in which it differs from the one before.
"""

import argparse
import os
import struct
import subprocess
import sys
import tempfile
import time
import zlib

try:
    from browser import Browser, wait
except ImportError as missing:
    print(f"skipped: the picture, which needs {missing.name} (apt-get install python3-selenium)")
    sys.exit(75)

from harness import METER, Meterd, Program  # noqa: E402 - where browser has found it

SIZE, SCALE = (1000, 1000), 0.75
EACH_S, SHOWN_MS, LAST_MS = 3.5, 120, 4000
COLOURS = 48
BYTES_MAX = 1_000_000


# MARK: PNG

def chunks(png):
    """Kind and content of each part of a PNG."""
    place = 8
    while place < len(png):
        length, kind = struct.unpack(">I4s", png[place:place + 8])
        yield kind, png[place + 8:place + 8 + length]
        place += length + 12


def chunk(kind, content):
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


def pixels(png):
    """Rows of bytes, three a pixel, of a PNG of eight bits without interlacing."""
    parts = list(chunks(png))
    width, height, depth, colour, _, _, interlaced = struct.unpack(">IIBBBBB", dict(parts)[b"IHDR"])
    if depth != 8 or colour not in (2, 6) or interlaced:
        raise ValueError(f"a PNG of depth {depth}, colour {colour}, interlacing {interlaced}")
    size = 3 if colour == 2 else 4
    raw = zlib.decompress(b"".join(content for kind, content in parts if kind == b"IDAT"))
    stride, rows, before = width * size, [], bytearray(width * size)
    for row in range(height):
        start = row * (stride + 1)
        line = unfiltered(raw[start], bytearray(raw[start + 1:start + 1 + stride]), before, size)
        before = line
        rows.append(line if size == 3 else bytearray(value for place, value in enumerate(line) if place % 4 != 3))
    return width, height, rows


def unfiltered(kind, line, before, size):
    """A row without its filter (https://www.w3.org/TR/png-3/#9Filters)."""
    for place in range(len(line)) if kind else ():
        left = line[place - size] if place >= size else 0
        corner = before[place - size] if place >= size else 0
        above = before[place]
        if kind == 1:
            line[place] = line[place] + left & 255
        elif kind == 2:
            line[place] = line[place] + above & 255
        elif kind == 3:
            line[place] = line[place] + (left + above) // 2 & 255
        else:
            guess = left + above - corner
            nearest = min((abs(guess - left), 0, left), (abs(guess - above), 1, above), (abs(guess - corner), 2, corner))[2]
            line[place] = line[place] + nearest & 255
    return line


def written(width, height, rows):
    """A PNG of rows of three bytes a pixel."""
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
            + chunk(b"IDAT", zlib.compress(b"".join(b"\0" + bytes(row) for row in rows), 6)) + chunk(b"IEND", b""))


# MARK: Animation

def indexed(frames):
    """A palette for all frames, and each frame's rows as numbers in it. pngquant chooses the colours, of all frames at once."""
    width, height, _ = frames[0]
    # Some frames stand for all: one above the other.
    some = frames[::max(1, len(frames) // 6)] + [frames[-1]]
    sheet = written(width, height * len(some), [row for _, _, rows in some for row in rows])
    answer = subprocess.run(["pngquant", "--nofs", "--posterize", "3", str(COLOURS), "-"], input=sheet, stdout=subprocess.PIPE, check=True).stdout
    palette = dict(chunks(answer))[b"PLTE"]
    colours = [tuple(palette[place:place + 3]) for place in range(0, len(palette), 3)]
    known = {}

    def number(pixel):
        if pixel not in known:
            known[pixel] = min(range(len(colours)), key=lambda one: sum((a - b) ** 2 for a, b in zip(colours[one], pixel)))
        return known[pixel]
    return palette, [[bytes(number(tuple(row[place:place + 3])) for place in range(0, len(row), 3)) for row in rows] for _, _, rows in frames]


def changed(before, rows):
    """Left, top, width and height of where two frames differ; a pixel where they do not."""
    differing = [index for index, row in enumerate(rows) if row != before[index]]
    if not differing:
        return 0, 0, 1, 1
    top, bottom = differing[0], differing[-1]
    columns = [index for row in differing for index in span(before[row], rows[row])]
    return min(columns), top, max(columns) - min(columns) + 1, bottom - top + 1


def span(a, b):
    """The first and the last place in which two rows differ."""
    first = next(index for index in range(len(a)) if a[index] != b[index])
    last = next(index for index in range(len(a) - 1, -1, -1) if a[index] != b[index])
    return first, last


def animated(frames):
    """An animated PNG."""
    width, height, _ = frames[0]
    palette, numbered = indexed(frames)
    parts = [b"\x89PNG\r\n\x1a\n", chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)),
             chunk(b"acTL", struct.pack(">II", len(frames), 0)), chunk(b"PLTE", palette)]
    sequence = 0
    for index, rows in enumerate(numbered):
        left, top, wide, high = (0, 0, width, height) if index == 0 else changed(numbered[index - 1], rows)
        shown = LAST_MS if index == len(frames) - 1 else SHOWN_MS
        parts.append(chunk(b"fcTL", struct.pack(">IIIIIHHBB", sequence, wide, high, left, top, shown, 1000, 0, 0)))
        sequence += 1
        data = zlib.compress(b"".join(b"\0" + row[left:left + wide] for row in rows[top:top + high]), 9)
        if index == 0:
            parts.append(chunk(b"IDAT", data))
        else:
            parts.append(chunk(b"fdAT", struct.pack(">I", sequence) + data))
            sequence += 1
    return b"".join([*parts, chunk(b"IEND", b"")])


# MARK: The charge

def screens(daemon, browser):
    """The page's screens until some while after the alert."""
    browser.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
        "width": SIZE[0], "height": SIZE[1], "deviceScaleFactor": SCALE, "mobile": True})
    browser.open(f"{daemon.url}/#/meter/{METER.replace(':', '%3A')}?show=voltage_V,current_A")
    wait("it is live", lambda: browser.texts(".badge") == ["Live"])
    found, end = [], None
    began = time.monotonic()
    while end is None or time.monotonic() < end:
        time.sleep(max(0, began + len(found) * EACH_S - time.monotonic()))
        found.append(browser.driver.get_screenshot_as_png())
        if end is None and browser.text("header .banner"):
            end = time.monotonic() + 5 * EACH_S
        if len(found) > 150:
            raise RuntimeError("nothing was charged")
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default=".build/debug")
    parser.add_argument("--page", help="the page's address where something else is in front of meterd, at 127.0.0.1:18660")
    parser.add_argument("file")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="moving-") as folder:
        meter = Program("meter", [f"{arguments.bin}/meterctl", "simulate", "um25c", "--pty", "--charge-half", "45s"], folder, takes_orders=True)
        daemon = Meterd(arguments.bin, folder, environment={"METERD_WEB_LISTEN": "127.0.0.1:18660" if arguments.page else "127.0.0.1:0"})
        browser = None
        try:
            daemon.start()
            daemon.url = arguments.page or daemon.wait_for(r"web page started .*url=(http://\S+)", 60).group(1).rstrip("/")
            meter.start()
            daemon.must("connect", meter.wait_for(r"(/dev/pts/\d+)").group(1), "--model", "um25c", "--id", METER)
            daemon.must("set", METER, "name=Phone")
            daemon.must("alert", "add", METER, "current < 50mA for 5s", "--name", "charged")
            browser = Browser(SIZE, "light")
            taken = screens(daemon, browser)
        finally:
            if browser:
                browser.quit()
            daemon.stop(40)
            meter.stop(20)
    picture = animated([pixels(one) for one in taken])
    with open(arguments.file, "wb") as file:
        file.write(picture)
    print(f"{arguments.file}: {len(taken)} frames, {len(picture)} bytes")
    sys.exit(0 if len(picture) <= BYTES_MAX else 1)


if __name__ == "__main__":
    main()
