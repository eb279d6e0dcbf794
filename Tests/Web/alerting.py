"""Alerts in a browser: added, raised, tested, removed, and what is said of those who could not be told."""

import http.server
import json
import re
import threading

from browser import HOSTILE, PATH, Daemon, wait
from harness import METER, Failure

ROWS = ".alerts .alert"


def row(browser, name):
    """The words of one rule."""
    return next((words for words in browser.texts(ROWS) if name in words), "")


def open_form(browser):
    wait("the form is there", lambda: browser.js("""const form = document.querySelector('.alerts details:not([hidden])');
      if (form) form.open = true; return Boolean(form)"""))


def rules(daemon):
    return [rule["name"] for rule in json.loads(daemon.fetch("/v1/alerts"))["alerts"]]


def alert_is_added_and_raised(daemon, browser, axe):
    """An example fills the form, a wrong condition is refused in words, and what is raised shows in the rule, at the top and on the card."""
    name = f"volts {browser.theme} {browser.size[0]}"
    browser.open(daemon.url + PATH)
    open_form(browser)
    browser.click(".alerts .examples button", "charged")
    if browser.js("return document.querySelector('#alert-condition').value") != "current < 50mA for 2m":
        raise Failure("the example fills nothing in")
    browser.type("#alert-condition", "curent < 50mA")
    browser.type("#alert-name", name)
    browser.click(".alerts form button", "Add")
    wait("what is wrong is said", lambda: "did you mean current?" in browser.text("#alert-problem"))
    browser.must_be_readable(axe, "the form of alerts")
    browser.type("#alert-condition", "voltage > 1V")
    browser.click(".alerts form button", "Add")
    wait("it is raised", lambda: re.search(r"Voltage above 1 V.*Raised since .*, at [45]\.\d+ V.*Tells nobody", row(browser, name)))
    wait("it is at the top", lambda: f"{name}: demo UM25C since" in browser.text("header .banner"))
    wait("it is at its meter", lambda: name in browser.text(".head .raised"))
    browser.must_be_readable(axe, "alerts")
    browser.open(daemon.url + "/")
    wait("it is on its card alone", lambda: sum(name in words for words in browser.texts(".card")) == 1
         and name in browser.text(f".card[data-id='{METER}'] .raised"))
    browser.must_be_readable(axe, "the overview with an alert")
    browser.open(daemon.url + "/#/host")
    wait("it is among all", lambda: "demo UM25C" in row(browser, name))
    browser.click(f"button[aria-label='Remove {name}']")
    wait("it is gone", lambda: not row(browser, name) and name not in browser.text("header .banner"))
    browser.click("#said button", "Undo")
    wait("it is back", lambda: row(browser, name))
    browser.click(f"button[aria-label='Remove {name}']")
    wait("it is removed", lambda: name not in rules(daemon))


def alert_is_not_for_everybody(daemon, browser, _):
    """Who may only look sees rules without buttons; a name is text; a rule whose meter is let go is not said to be watched."""
    daemon.must("alert", "add", METER, "current < 1mA", "--name", HOSTILE)
    daemon.must("alert", "add", METER, "voltage > 1V", "--name", f"raised {HOSTILE}")
    try:
        browser.open(daemon.url + PATH)
        wait("its name is text", lambda: HOSTILE in browser.texts(".alerts h3") and HOSTILE in browser.text("header .banner"))
        if browser.js("return document.querySelectorAll('img:not(.brand img)').length") != 0:
            raise Failure("a name was taken for markup")
        daemon.must("disconnect", METER)
        wait("nothing is watched", lambda: "not watched: no reading comes" in row(browser, HOSTILE))
        daemon.must("connect", METER)
        wait("it is watched", lambda: "not watched" not in row(browser, HOSTILE))
        browser.js("Promise.all([import('/live.js'), import('/alerts.js')])"
                   ".then(([{ state }, { tellAlerts }]) => { state.session.may_change = false; tellAlerts(); })")
        wait("nothing can be pressed", lambda: browser.js(
            """return [...document.querySelectorAll('.alerts button, .alerts input, .alerts summary')]
              .filter((e) => e.offsetParent !== null).length""") == 0)
    finally:
        daemon.must("alert", "remove", HOSTILE)
        daemon.must("alert", "remove", f"raised {HOSTILE}")


class Hook(http.server.BaseHTTPRequestHandler):
    """Takes notices."""

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_):
        """Says nothing."""


class TellingDaemon(Daemon):
    """A demo that can tell `desk`, which takes it, and `attic`, where nobody is."""

    def __init__(self, binaries):
        super().__init__(binaries)
        self.hook = http.server.HTTPServer(("127.0.0.1", 0), Hook)
        threading.Thread(target=self.hook.serve_forever, daemon=True).start()
        self.configuration = (f'[notify.desk]\nkind = "webhook"\nurl = "http://127.0.0.1:{self.hook.server_port}/"\n'
                              '[notify.attic]\nkind = "webhook"\nurl = "http://127.0.0.1:9/"\n')

    def end(self):
        super().end()
        self.hook.shutdown()
        self.hook.server_close()


def who_could_not_be_told_is_named(daemon, browser, _):
    """A test says who was told and who was not; what waits, and why, stands at its rule."""
    other = TellingDaemon(daemon.bin)
    try:
        other.start()
        browser.open(other.url + PATH)
        open_form(browser)
        browser.type("#alert-condition", "voltage > 1V")
        wait("both can be chosen", lambda: len(browser.texts(".whom label")) == 2)
        browser.js("for (const box of document.querySelectorAll('.whom input')) box.click()")
        browser.click(".alerts form button", "Add")
        wait("what waits is said", lambda: re.search(r"attic: a notice waits; the last attempt failed: \S", row(browser, "Voltage above 1 V")))
        if "desk:" in row(browser, "Voltage above 1 V"):
            raise Failure("who was told is said to have trouble")
        browser.click("button[aria-label='Test Voltage above 1 V']")
        wait("the test says who was told", lambda: re.search("attic was not told: .*desk was told|desk was told; attic was not told: ",
                                                                  row(browser, "Voltage above 1 V")))
        browser.open(other.url + "/#/host")
        targets = lambda: browser.texts(".alerts tbody tr")
        wait("all who can be told are listed",
             lambda: len(targets()) == 2 and re.search(r"attic.*webhook1", targets()[0]) and "delivered" in targets()[1])
    finally:
        browser.open("about:blank")
        other.end()


CASES = [alert_is_added_and_raised, alert_is_not_for_everybody, who_could_not_be_told_is_named]
ONCE = {alert_is_not_for_everybody, who_could_not_be_told_is_named}
EXPECTED = {alert_is_added_and_raised: ("status of 400",)}
