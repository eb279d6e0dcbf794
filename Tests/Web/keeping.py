"""Settings, commands and recordings in a browser."""

import re
import time

from browser import HOSTILE, PATH, PHONE, wait
from harness import METER, Failure

HOSTILE_METER = "02:00:00:00:34:0C"


def settings_are_saved(daemon, browser, _):
    """A setting is saved by itself, comes back with who set it, and what is not legal is said."""
    text = f"by {browser.theme} {browser.size[0]}"
    browser.open(daemon.url + PATH)
    notes = "[data-key=notes]"
    for value in ("first " + text, text):
        browser.type("#set-notes", value)
        browser.click(f"{notes} button", "Save")
        wait("it is saved", lambda value=value: daemon.must("get", METER, "notes").out.strip() == value)
    wait("it says who set it", lambda: "by this host" in browser.text(f"{notes} .origin"))
    wait("the history names who and what", lambda: "first " + text in browser.text("section[aria-label='Who changed what']"))
    browser.type("#set-name", "/not/a/name")
    browser.click("[data-key=name] button", "Save")
    wait("what is not legal is said", lambda: "name cannot be" in browser.text("[data-key=name] .problem"))
    browser.click("[data-key=name] button", "Undo")
    browser.js("const i = document.querySelector('#set-brightness'); i.value = 4; i.dispatchEvent(new Event('change'))")
    browser.click("[data-key=brightness] button", "Save")
    wait("a value of a list is saved", lambda: daemon.must("get", METER, "brightness").out.strip() == "4")
    browser.click("[data-key=brightness] button", "Default")
    wait("it goes back to its default", lambda: "default" in browser.text("[data-key=brightness] .origin"))


def two_people_edit_a_setting(daemon, browser, _):
    """An edit that somebody else overtook is shown and asked about, and nothing is overwritten before."""
    daemon.must("set", METER, "notes=before")
    browser.open(daemon.url + PATH)
    wait("the settings are there", lambda: browser.js("return document.querySelector('#set-notes')?.value") == "before")
    browser.type("#set-notes", "mine")
    daemon.must("set", METER, "notes=theirs")
    place = "[data-key=notes] .overtaken"
    wait("it is told", lambda: "theirs" in browser.text(place))
    if browser.js("return document.querySelector('#set-notes').value") != "mine":
        raise Failure("what was typed is gone")
    browser.click(f"{place} button", "Take theirs")
    wait("theirs is taken", lambda: browser.js("return document.querySelector('#set-notes').value") == "theirs")
    browser.type("#set-notes", "mine again")
    daemon.must("set", METER, "notes=theirs again")
    browser.click(f"{place} button", "Keep mine and save")
    wait("mine is kept", lambda: daemon.must("get", METER, "notes").out.strip() == "mine again")
    browser.type("#set-notes", "unsaved")
    browser.js("location.hash = '#/recordings'")
    wait("leaving is asked about", lambda: "Leave without saving" in browser.text("dialog"))
    browser.click("dialog button", "Stay")
    wait("it stays", lambda: "meter" in browser.js("return location.hash") and browser.js("return document.querySelector('#set-notes').value") == "unsaved")
    browser.js("location.hash = '#/recordings'")
    browser.click("dialog button", "Leave")
    wait("it leaves", lambda: bool(browser.texts(".recordings")))


def commands_ask_first(daemon, browser, _):
    """A command is a button; one that destroys asks, and Cancel sends nothing."""
    browser.open(daemon.url + PATH)
    log = lambda: daemon.must("log", METER).out
    browser.click(".commands button", "Next screen")
    wait("it is sent", lambda: "next-screen" in log())
    browser.click(".commands button", "Clear the group …")
    wait("it is asked", lambda: "gone for good" in browser.text("dialog"))
    browser.click("dialog button", "Cancel")
    time.sleep(1)
    if "clear-group" in log():
        raise Failure("it was sent though nobody agreed")
    browser.click(".commands button", "Clear the group …")
    browser.click("dialog button", "Clear the group")
    wait("it is sent once somebody agrees", lambda: "clear-group" in log())


def told_is_shown(daemon, browser, _):
    """What a meter tells besides readings, its charging mode and its groups, is on its page."""
    browser.open(daemon.url + PATH)
    for words in ("Charging mode", "Group 9"):
        wait(f"{words} is there", lambda: words in browser.text("main"))


def recording_is_made(daemon, browser, _):
    """A recording begins and ends by button, adds up, is listed with those of all meters, drawn, saved and deleted."""
    title = f"phone {browser.theme} {browser.size[0]}"
    browser.open(daemon.url + PATH)
    row = lambda: next((words for words in browser.texts(".recording") if title in words), "")
    wait("the name can be given", lambda: browser.js("return document.querySelector('#record-name')?.offsetParent !== null"))
    browser.js("document.querySelector('#record-name').value = arguments[0]", title)
    browser.click(".record button", "Record")
    wait("it goes on", lambda: "goes on" in row())
    wait("it adds up", lambda: re.search(r"[1-9]\d* Wh", row()))
    browser.click(".record button", "Stop recording")
    wait("it is over", lambda: "stopped by hand" in row())
    browser.js("""const make = URL.createObjectURL.bind(URL);
      URL.createObjectURL = (blob) => { window.kind = blob.type; blob.text().then((text) => { window.saved = text; }); return make(blob); };""")
    link = browser.js("const a = document.querySelector(arguments[0]); return [a.download, a.pathname + a.search]", f".links a[aria-label='Readings as CSV of {title}']")
    lines = daemon.fetch(link[1]).splitlines()
    if not re.fullmatch(r"[\w-]+\.csv", link[0]):
        raise Failure(f"the file is called {link[0]}")
    if not lines[0].startswith("time,") or "voltage_V" not in lines[0] or len(lines) < 3 or not re.match(r"\d{4}-.*Z,\d", lines[-1]):
        raise Failure(f"the export begins {lines[:2]}")
    for kind, begin in (("SVG", "<svg"), ("PNG", "")):
        browser.js("window.saved = null")
        browser.click(f".links button[aria-label='Chart as {kind} of {title}']")
        text = wait(f"its {kind} is made", lambda: browser.js("return window.saved"))
        if not text.startswith(begin) or kind.lower() not in browser.js("return window.kind"):
            raise Failure(f"the {kind} begins {text[:40]!r}")
    browser.open(daemon.url + "/#/recordings")
    wait("it is among those of all meters", lambda: title in row() and "demo UM25C" in row())
    if browser.size == PHONE:
        links_can_be_touched(browser)
    browser.click(f".links a[aria-label='Chart of {title}']")
    wait("it is drawn", lambda: "from=" in browser.js("return location.hash") and browser.js("return document.querySelector('.plot canvas')?.width > 0"))


def links_can_be_touched(browser):
    """Everything that can be pressed lies on the screen."""
    away = browser.js("""return [...document.querySelectorAll('.recording a, .recording button, .recording input')]
      .filter((e) => e.offsetParent !== null).filter((e) => { e.scrollIntoView({ block: 'center' }); const r = e.getBoundingClientRect();
        const hit = document.elementFromPoint(r.left + r.width / 2, r.top + r.height / 2);
        return r.left < 0 || r.right > innerWidth || !(hit === e || e.contains(hit)); }).map((e) => e.ariaLabel)""")
    if away:
        raise Failure(f"out of reach on a phone: {away[:3]}")


def recording_is_described_and_deleted(daemon, browser, _):
    """Rename, note, delete and take that back."""
    title = f"words {browser.theme} {browser.size[0]}"
    daemon.must("record", "start", METER, "--name", title)
    time.sleep(2)
    daemon.must("record", "stop", METER)
    browser.open(daemon.url + "/#/recordings")
    row = lambda name: next((words for words in browser.texts(".recording") if name in words), "")
    wait("it is listed", lambda: "stopped by hand" in row(title))
    browser.click(f"button[aria-label='Note on {title}']")
    browser.js("document.querySelector('dialog input').value = 'with the old cable'")
    browser.click("dialog button", "Save")
    wait("its note is shown", lambda: "with the old cable" in row(title))
    new = title.replace("words", "cable")
    browser.click(f"button[aria-label='Rename {title}']")
    browser.js("document.querySelector('dialog input').value = arguments[0]", new)
    browser.click("dialog button", "Save")
    wait("it is renamed", lambda: row(new) != "")
    browser.click(f"button[aria-label='Delete {new}']")
    wait("it is gone", lambda: row(new) == "")
    browser.click("#said button", "Undo")
    wait("it is back", lambda: row(new) != "")
    browser.click(f"button[aria-label='Delete {new}']")
    wait("it is deleted", lambda: new not in daemon.must("record", "list").out)


def marks_are_set_and_changed(daemon, browser, _):
    """A moment and a span are marked below the chart, drawn, renamed, ended and deleted."""
    title = f"screen {browser.theme} {browser.size[0]}"
    marks = lambda: {one["name"]: one for one in daemon.get(f"/v1/meters/{METER}/marks")["marks"]}
    row = lambda name: next((words for words in browser.texts(".marks li") if name in words), "")
    browser.open(daemon.url + PATH)
    wait("a mark can be named", lambda: browser.js("return document.querySelector('#mark-name')?.offsetParent !== null"))
    for name, button in ((title, "Mark now"), (f"{title} span", "Begin a span")):
        browser.js("document.querySelector('#mark-name').value = arguments[0]", name)
        browser.click(".chart form button", button)
        wait(f"{name} is set", lambda name=name: name in marks())
        # The page empties the field once it has the answer.
        wait("the next one can be named", lambda: browser.js("return document.querySelector('#mark-name').value") == "")
    if marks()[title]["to"] != marks()[title]["from"] or marks()[f"{title} span"]["to"] is not None:
        raise Failure(f"the marks are {marks()}")
    browser.click(".chart summary")
    wait("the open span is listed", lambda: "goes on" in row(f"{title} span"))
    browser.click(f"button[aria-label='End {title} span']")
    wait("it is ended", lambda: marks()[f"{title} span"]["to"] is not None)
    browser.click(f"button[aria-label='Rename {title}']")
    browser.type("dialog input", f"{title} on")
    browser.click("dialog button", "Save")
    wait("it is renamed", lambda: f"{title} on" in marks() and f"{title} on" in row(f"{title} on"))
    browser.click(f"button[aria-label='Delete {title} on']")
    wait("it is gone from the page", lambda: row(f"{title} on") == "")
    wait("it is deleted", lambda: f"{title} on" not in marks())


def recordings_are_compared(daemon, browser, _):
    """Two recordings are chosen, laid over each other and told apart in a table; so are two meters."""
    for name in ("one", "two"):
        daemon.must("record", "start", METER, "--name", f"{name} {browser.theme} {browser.size[0]}")
        time.sleep(4)
        daemon.must("record", "stop", METER)
    browser.open(daemon.url + "/#/recordings")
    for name in ("one", "two"):
        browser.click(f"input[aria-label='Compare {name} {browser.theme} {browser.size[0]}']")
    browser.click(".recordings .tools a", "Compare 2")
    table = "section[aria-label=Differences] tbody tr"
    wait("they are in a table", lambda: len(browser.texts(table)) == 2 and re.search(r"%|the same", browser.texts(table)[1]))
    browser.js("const s = document.querySelector('#compare-by'); s.value = 'charge'; s.dispatchEvent(new Event('change'))")
    browser.mouse("mouseMoved", ".plot", 0.3)
    wait("their values are told by charge", lambda: "mAh" in browser.text(".tip") and "1: " in browser.text(".tip") and "2: " in browser.text(".tip"))
    browser.open(daemon.url + "/#/efficiency?in=02%3A00%3A00%3A00%3A25%3A0C&out=02%3A00%3A00%3A00%3A66%3A0C")
    wait("what is lost is told", lambda: re.search(r"\d % of .* Wh came out", browser.text("section[aria-label=Efficiency] p")))


def hostile_name_is_text(daemon, browser, _):
    """A name full of markup is shown as it is, everywhere."""
    daemon.must("set", HOSTILE_METER, f"name={HOSTILE}", f"notes={HOSTILE}")
    daemon.must("record", "start", HOSTILE_METER, "--name", HOSTILE)
    time.sleep(3)
    daemon.must("record", "stop", HOSTILE_METER)
    recording = next(one["id"] for one in daemon.get("/v1/recordings")["recordings"] if one["name"] == HOSTILE)
    try:
        browser.open(daemon.url + "/")
        wait("the name is shown as text", lambda: HOSTILE in browser.texts(".card h2"))
        browser.open(daemon.url + "/#/meter/02%3A00%3A00%3A00%3A34%3A0C")
        wait("it is the title of its own page", lambda: browser.text("main h1") == HOSTILE)
        wait("it is in the settings", lambda: browser.js("return document.querySelector('#set-notes')?.value") == HOSTILE)
        browser.click(".commands button", "Clear the group …")
        wait("it is in a question", lambda: HOSTILE in browser.text("dialog"))
        browser.click("dialog button", "Cancel")
        browser.open(daemon.url + "/#/recordings")
        wait("it is in the recordings", lambda: HOSTILE in browser.texts(".recording h3"))
        browser.open(f"{daemon.url}/#/compare?recordings={recording}")
        wait("it is in a comparison", lambda: HOSTILE in browser.text(".keys") and HOSTILE in browser.text("tbody"))
        browser.open(daemon.url + "/#/efficiency")
        wait("it can be chosen", lambda: HOSTILE in browser.texts("option"))
        if browser.js("return document.querySelectorAll('main img, dialog img').length") != 0 or browser.driver.title == "1":
            raise Failure("a name was taken for markup")
    finally:
        daemon.must("set", HOSTILE_METER, "name=demo UM34C", "notes=")
        daemon.must("record", "delete", recording, "--yes")


CASES = [settings_are_saved, two_people_edit_a_setting, commands_ask_first, told_is_shown, recording_is_made, recording_is_described_and_deleted,
         marks_are_set_and_changed, recordings_are_compared, hostile_name_is_text]
ONCE = {settings_are_saved, two_people_edit_a_setting, commands_ask_first, told_is_shown, recording_is_described_and_deleted, marks_are_set_and_changed,
        recordings_are_compared}
EXPECTED = {settings_are_saved: ("status of 400",)}
