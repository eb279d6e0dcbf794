"""A browser, and a meterd to look at, for the tests of the web page."""

import functools
import json
import os
import shutil
import sys
import tempfile
import time
import urllib.request

from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "Support"))
import harness  # noqa: E402
from harness import Demo, Failure  # noqa: E402

# How long anything that is to happen soon may take on a busy machine, s.
SOON = 60
PHONE, DESKTOP = (390, 844), (1280, 800)
# The chart of the demo's UM25C.
PATH = "/#/meter/02%3A00%3A00%3A00%3A25%3A0C"
# What would run, or leave, if a name were taken for markup.
HOSTILE = "<img src=x onerror=document.title=1>\"'&"
SHIFT = 8

wait = functools.partial(harness.wait, seconds=SOON)


class Daemon(Demo):
    """A demo in a folder of its own, and where its page is."""

    def __init__(self, binaries, web=""):
        self.ingress, = harness.free_ports(1)
        super().__init__(binaries, tempfile.mkdtemp(prefix="web-"), configuration=(
            f'[web]\nnames = ["plain.test"]\nproxies = ["127.0.0.1"]\ningress = "127.0.0.1:{self.ingress}"\n{web}'))
        self.url = None

    def start(self):
        super().start(SOON)
        self.url = self.wait_for(r"web page started .*url=(http://\S+)", SOON).group(1).rstrip("/")
        wait("four meters have data", lambda: self.fetch("/v1/status").count('"data-available"') == 4)

    def fetch(self, path):
        """What the page's address answers."""
        with urllib.request.urlopen(self.url + path, timeout=SOON) as answer:
            return answer.read().decode()

    def end(self):
        """Also while pages are open."""
        try:
            self.stop(40)
        finally:
            shutil.rmtree(self.folder, ignore_errors=True)


class Browser:
    """Chromium of one size and theme. Everything that it sends and logs is kept."""

    def __init__(self, size, theme):
        options = Options()
        options.binary_location = shutil.which("chromium") or "chromium"
        for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                         "--disable-background-networking", "--disable-component-update", "--no-first-run",
                         # A name that is no secure context, as one in the network.
                         "--host-resolver-rules=MAP plain.test 127.0.0.1",
                         f"--window-size={size[0]},{size[1]}"):
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        self.driver = webdriver.Chrome(service=Service(shutil.which("chromedriver")), options=options)
        self.driver.set_script_timeout(SOON)
        self.theme = theme
        self.size = size
        phone = size == PHONE
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": size[0], "height": size[1], "deviceScaleFactor": 2 if phone else 1, "mobile": phone})
        if phone:
            self.driver.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": True})
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {
            "features": [{"name": "prefers-color-scheme", "value": theme}]})
        self.requests, self.bytes, self.errors = [], 0, []

    def open(self, url):
        self.driver.get(url)

    def js(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def texts(self, selector):
        return self.js("return [...document.querySelectorAll(arguments[0])].map((e) => e.textContent)", selector)

    def text(self, selector):
        return " ".join(self.texts(selector))

    def click(self, selector, text=None):
        """Clicks what a person would: the first that is shown, with that text."""
        def look():
            return self.js("""
                const found = [...document.querySelectorAll(arguments[0])].find((e) => e.offsetParent !== null
                  && !e.disabled && (arguments[1] === null || e.textContent.trim() === arguments[1]));
                if (!found) return false;
                found.scrollIntoView({ block: "center" });
                found.click();
                return true;""", selector, text)
        wait(f"{selector} {text or ''} can be clicked", look)

    def box(self, selector):
        """Left, top, width and height of what is then in the middle of the screen."""
        return self.js("""const found = document.querySelector(arguments[0]); found.scrollIntoView({ block: 'center' });
          const r = found.getBoundingClientRect(); return [r.left, r.top, r.width, r.height]""", selector)

    def mouse(self, kind, selector, part, buttons=0, modifiers=0, clicks=1):
        """A mouse event in the middle of an element's height, at a part of its width."""
        left, top, width, height = self.box(selector)
        self.driver.execute_cdp_cmd("Input.dispatchMouseEvent", {
            "type": kind, "x": left + width * part, "y": top + height / 2, "buttons": buttons, "modifiers": modifiers,
            "button": "left" if kind != "mouseMoved" or buttons else "none", "clickCount": clicks})

    def drag(self, selector, start, end, modifiers=0):
        self.mouse("mousePressed", selector, start, 1, modifiers)
        for step in range(1, 6):
            self.mouse("mouseMoved", selector, start + (end - start) * step / 5, 1, modifiers)
        self.mouse("mouseReleased", selector, end, 0, modifiers)

    def double_click(self, selector, part):
        for count in (1, 2):
            self.mouse("mousePressed", selector, part, 1, clicks=count)
            self.mouse("mouseReleased", selector, part, clicks=count)

    def key(self, name, modifiers=0):
        for kind in ("keyDown", "keyUp"):
            self.driver.execute_cdp_cmd("Input.dispatchKeyEvent", {
                "type": kind, "key": name, "code": name, "modifiers": modifiers,
                "windowsVirtualKeyCode": {"Tab": 9, "Escape": 27}.get(name, 0)})

    def type(self, selector, text):
        """Puts a text into a field as typing does."""
        wait(f"{selector} is there", lambda: self.js("return Boolean(document.querySelector(arguments[0]))", selector))
        self.js("""const field = document.querySelector(arguments[0]); field.value = arguments[1];
          field.dispatchEvent(new Event("input", { bubbles: true }));""", selector, text)

    def must_be_readable(self, axe, what):
        """Nothing is wider than the screen, and axe, where it is there, finds nothing in labels, contrast, landmarks and the like."""
        over = self.js("return document.documentElement.scrollWidth - document.documentElement.clientWidth")
        if over > 0:
            raise Failure(f"{what} is {over} px wider than the screen")
        if axe is None:
            return
        self.js(axe)
        found = self.driver.execute_async_script(
            "const done = arguments[0]; axe.run(document).then((r) => done(r.violations.map((v) => "
            "`${v.id}: ${v.nodes.slice(0, 3).map((n) => n.html.slice(0, 120)).join(' | ')}`)))")
        if found:
            raise Failure(f"{what}: {'; '.join(found)}")

    def watch(self):
        """Takes in what was sent and logged since the last time."""
        for entry in self.driver.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            kind, values = message["method"], message["params"]
            if kind == "Network.requestWillBeSent":
                self.requests.append(values["request"]["url"])
            elif kind == "Network.dataReceived":
                self.bytes += values["dataLength"]
        for entry in self.driver.get_log("browser"):
            if entry["level"] in ("SEVERE", "WARNING"):
                self.errors.append(entry["message"])

    def picture(self, path):
        self.driver.save_screenshot(path)

    def quit(self):
        self.driver.quit()

