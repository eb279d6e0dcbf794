"""The pictures of Docs/Images: every view with something in it, and what the page looks like when something is lost.

usage: Tests/Web/run pictures [--bin FOLDER] FOLDER [PART…]

The parts are views (the demo, after some minutes, with recordings), losses (a silent meter, another host's, a dead meterd),
many (forty meters) and empty (none). Look at each of them before it goes into Docs.
"""

import argparse
import shutil
import subprocess
import sys
import tempfile
import time

try:
    from browser import DESKTOP, PATH, PHONE, Browser, Daemon, wait
except ImportError as missing:
    print(f"skipped: the pictures, which need {missing.name} (apt-get install python3-selenium)")
    sys.exit(75)

import power  # noqa: E402
from harness import METER, Meterd, Program, stop_all  # noqa: E402 - where browser has found it

# How long the demo is read before its charts are worth a look, s.
FILLED_S = 210
# Of the demo's four.
OTHER = "02:00:00:00:34:0C"
MANY = 40


class Camera:
    """Every size and theme, into one folder."""

    def __init__(self, folder):
        self.folder = folder

    def take(self, url, views):
        """views: name, path and the selector of the part to show."""
        for size in (DESKTOP, PHONE):
            for theme in ("light", "dark"):
                browser = Browser(size, theme)
                try:
                    for name, path, part in views:
                        browser.open("about:blank")
                        browser.open(url + path)
                        wait("the page is there", lambda: browser.texts("main section, main article"))
                        time.sleep(3)
                        if part:
                            browser.js("document.querySelector(arguments[0]).scrollIntoView()", part)
                            time.sleep(1)
                        self.keep(browser, f"{self.folder}/{name}-{'phone' if size == PHONE else 'desktop'}-{theme}.png")
                finally:
                    browser.quit()

    @staticmethod
    def keep(browser, file):
        """Small where pngquant is installed."""
        browser.picture(file)
        if shutil.which("pngquant"):
            subprocess.run(["pngquant", "--force", "--skip-if-larger", "--output", file, "64", file], check=False)
        print(file)


def record(daemon, meter, name, seconds):
    daemon.must("record", "start", meter, "--name", name)
    time.sleep(seconds)
    daemon.must("record", "stop", meter)


def views(binaries, camera):
    """The demo with two recordings, a rule, and a few minutes of readings."""
    daemon = Daemon(binaries)
    try:
        daemon.start()
        began = time.monotonic()
        daemon.must("set", METER, "tariff=0.32 EUR", "notes=on the desk, left port")
        daemon.must("alert", "add", METER, "current < 50mA for 2m", "--name", "charged")
        record(daemon, METER, "phone, white cable", 60)
        record(daemon, OTHER, "phone, black cable", 50)
        time.sleep(max(0, began + FILLED_S - time.monotonic()))
        some = [one["id"] for one in daemon.get("/v1/recordings")["recordings"]]
        now = int(time.time() * 1000)
        pair = f"in={METER.replace(':', '%3A')}&out={OTHER.replace(':', '%3A')}"
        camera.take(daemon.url, [
            ("meters", "/", None), ("meter", f"{PATH}?select={now - 150_000}-{now - 60_000}", ".chart"),
            ("settings", PATH, ".commands"), ("pd", power.PD_PATH, ".pd"), ("recordings", "/#/recordings", None),
            ("compare", f"/#/compare?recordings={','.join(some)}", None), ("efficiency", f"/#/efficiency?{pair}", None),
            ("host", "/#/host", None)])
    finally:
        daemon.end()


def losses(binaries, camera):
    """One meter is silent, another host has one; then meterd is killed while the page is open."""
    daemon = Daemon(binaries)
    silent = Program("silent", [f"{binaries}/meterctl", "simulate", "um24c", "--pty", "--seed", "9"], daemon.folder, takes_orders=True)
    try:
        daemon.start()
        silent.start()
        daemon.must("connect", silent.wait_for(r"(/dev/pts/\d+)").group(1), "--model", "um24c", "--id", "02:00:00:00:99:0C")
        port = next(one["port"] for one in daemon.get("/v1/status")["meters"] if one["id"] == METER)
        daemon.must("disconnect", METER)
        daemon.must("connect", port, "--model", "um25c", "--id", METER, socket=daemon.attic)
        time.sleep(45)
        silent.order("fault silence")
        time.sleep(5)
        camera.take(daemon.url, [("losses", "/", None)])
        # Once dead it serves no further page, so that one is open before.
        browser = Browser(PHONE, "dark")
        try:
            browser.open(daemon.url + "/")
            wait("it is live", lambda: "Live" in browser.text("#link"))
            time.sleep(3)
            daemon.kill()
            time.sleep(8)
            camera.keep(browser, f"{camera.folder}/dead-phone-dark.png")
        finally:
            browser.quit()
    finally:
        silent.stop(20)
        daemon.end()


def alone(binaries, folder):
    """A meterd that starts without meters, and its page's address."""
    daemon = Meterd(binaries, folder, environment={"METERD_WEB_LISTEN": "127.0.0.1:0"})
    daemon.start()
    return daemon, daemon.wait_for(r"web page started .*url=(http://\S+)", 60).group(1).rstrip("/")


def many(binaries, camera):
    """Forty meters of one host."""
    with tempfile.TemporaryDirectory(prefix="pictures-") as folder:
        models = ["um25c", "um34c", "tc66c", "um24c"]
        meters = [Program(f"meter-{one}", [f"{binaries}/meterctl", "simulate", models[one % 4], "--pty", "--seed", str(one)], folder)
                  for one in range(MANY)]
        daemon, url = alone(binaries, folder)
        try:
            for one, meter in enumerate(meters):
                meter.start()
                identity = f"02:00:00:00:40:{one:02X}"
                daemon.must("connect", meter.wait_for(r"(/dev/pts/\d+)").group(1), "--model", models[one % 4], "--id", identity)
                daemon.must("set", identity, f"name=shelf {one // 8 + 1}, place {one % 8 + 1}")
            time.sleep(20)
            camera.take(url, [("many", "/", None)])
        finally:
            daemon.stop(40)
            stop_all(meters)


def empty(binaries, camera):
    """No meter at all."""
    with tempfile.TemporaryDirectory(prefix="pictures-") as folder:
        daemon, url = alone(binaries, folder)
        try:
            camera.take(url, [("empty", "/", None)])
        finally:
            daemon.stop(40)


PARTS = {"views": views, "losses": losses, "many": many, "empty": empty}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default=".build/debug")
    parser.add_argument("folder")
    parser.add_argument("parts", nargs="*", default=list(PARTS))
    arguments = parser.parse_args()
    for part in arguments.parts:
        PARTS[part](arguments.bin, Camera(arguments.folder))


if __name__ == "__main__":
    main()
