"""A browser, and a meterd to look at, for the tests of the web page."""

import json
import os
import re
import shutil
import subprocess
import tempfile
import time
import urllib.request

from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service

# How long anything that is to happen soon may take on a busy machine, s.
SOON = 60
PHONE, DESKTOP = (390, 844), (1280, 800)


class Failure(Exception):
    pass


def wait(what, look, patience=SOON):
    """Looks until something is there, and returns it."""
    end = time.monotonic() + patience
    while True:
        found = look()
        if found:
            return found
        if time.monotonic() > end:
            raise Failure(f"not in {patience} s: {what}")
        time.sleep(0.1)


class Daemon:
    """`meterd --demo` in a folder of its own, with a page on a free port."""

    def __init__(self, bin_folder):
        self.bin = bin_folder
        self.folder = tempfile.mkdtemp(prefix="web-")
        self.socket = f"{self.folder}/s.sock"
        self.log = open(f"{self.folder}/log", "w+")
        self.process = subprocess.Popen(
            [f"{bin_folder}/meterd", "--demo", "--socket", self.socket, "--state-directory", f"{self.folder}/state"],
            stdout=self.log, stderr=self.log, env={**os.environ, "METERD_WEB_LISTEN": "127.0.0.1:0"})
        self.url = wait("the page is served", self.served)
        wait("four meters have data", lambda: self.ask("/v1/status").count('"data-available"') == 4)

    def served(self):
        if self.process.poll() is not None:
            raise Failure(f"meterd ended: {self.words()}")
        found = re.search(r"the web page is served .*url=(http://\S+)", self.words())
        return found and found.group(1).rstrip("/")

    def words(self):
        with open(f"{self.folder}/log") as log:
            return log.read()

    def ask(self, path, method="GET", body=None, url=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request((url or self.url) + path, data=data, method=method)
        with urllib.request.urlopen(request, timeout=SOON) as answer:
            return answer.read().decode()

    def ctl(self, *arguments):
        return self.ctl_at(self.socket, *arguments)

    def ctl_at(self, socket, *arguments):
        run = subprocess.run(
            [f"{self.bin}/meterctl", *arguments, "--socket", socket], capture_output=True, text=True)
        if run.returncode != 0:
            raise Failure(f"meterctl {' '.join(arguments)}: {run.stderr}")
        return run.stdout

    def end(self):
        self.process.terminate()
        try:
            self.process.wait(40)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise Failure("meterd did not end within 40 s while pages were open")
        finally:
            shutil.rmtree(self.folder, ignore_errors=True)


class Browser:
    """Chromium of one size and theme. Everything that it sends and logs is kept."""

    def __init__(self, size, theme):
        options = Options()
        options.binary_location = shutil.which("chromium") or "chromium"
        for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                         "--disable-background-networking", "--disable-component-update", "--no-first-run",
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

    def picture(self, path, whole=False):
        if whole:
            height = min(4000, self.js("return document.documentElement.scrollHeight"))
            self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
                "width": self.size[0], "height": height, "deviceScaleFactor": 2 if self.size == PHONE else 1,
                "mobile": self.size == PHONE})
            time.sleep(0.7)
        self.driver.save_screenshot(path)
        if whole:
            self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
                "width": self.size[0], "height": self.size[1], "deviceScaleFactor": 2 if self.size == PHONE else 1,
                "mobile": self.size == PHONE})

    def quit(self):
        self.driver.quit()

