"""The web page in a real browser, at a real meterd with simulated meters. See README.md.

usage: Tests/Web/run [--bin FOLDER] [--pictures FOLDER] [CASE…]
"""

import json
import re
import sys
import time
import traceback

try:
    from browser import DESKTOP, PHONE, Browser, Daemon, wait
except ImportError as missing:
    print(f"skipped: the browser tests, which need {missing.name} (apt-get install python3-selenium)")
    sys.exit(75)

from harness import METER, Failure, command_line  # noqa: E402 - where browser has found it

PATH = "/#/meter/02%3A00%3A00%3A00%3A25%3A0C"
# The goal is 200 kB; the files come compressed.
WEIGHT_MAX = 100_000
# What would run, or leave, if a name were taken for markup.
HOSTILE = "<img src=x onerror=document.title=1>\"'&"


def card(browser, name):
    """The words of one meter's card."""
    return next((words for words in browser.texts(".card") if name in words), "")


def meters_appear(daemon, browser, _):
    """Four meters are there with their names, and their values move."""
    browser.open(daemon.url + "/")
    wait("four cards are live", lambda: browser.texts(".card .badge") == ["Live"] * 4)
    names = browser.texts(".card h2")
    for name in ("demo UM25C", "demo UM34C", "demo TC66C", "demo KM003C"):
        if name not in names:
            raise Failure(f"{name} is not among {names}")
    before = browser.texts(".card .big b")
    wait("values move", lambda: browser.texts(".card .big b") != before)
    wait("the lease counts down", lambda: "left" in browser.text(".card .lease"))
    wait("the power's curve is drawn", lambda: browser.js(
        "return [...document.querySelectorAll('.curve polyline')].every((c) => c.getAttribute('points').length > 10)"))


def connect_and_disconnect(daemon, browser, _):
    """Disconnect lets go, connect takes back, and the card says so."""
    browser.open(daemon.url + "/")
    browser.click("button[aria-label='Disconnect demo UM25C']")
    wait("it is let go", lambda: "Not connected" in card(browser, "demo UM25C"))
    browser.click("button[aria-label='Connect demo UM25C']")
    wait("it is live again", lambda: "Live" in card(browser, "demo UM25C"))


def take_over(daemon, browser, _):
    """A meter that the other host has is shown with its holder, and taken over."""
    daemon.must("disconnect", METER)
    port = json.loads(daemon.fetch(f"/v1/meters/{METER.replace(':', '%3A')}"))["port"]
    daemon.must("connect", port, "--model", "um25c", "--id", METER, socket=daemon.attic)
    browser.open(daemon.url + "/")
    wait("its holder is named", lambda: "demo-attic holds it" in card(browser, "demo UM25C"))
    browser.js("window.confirm = () => true")
    browser.click("button[aria-label='Take over demo UM25C']")
    wait("it is live here", lambda: "Live" in card(browser, "demo UM25C") and "This host" in card(browser, "demo UM25C"))
    daemon.must("disconnect", METER, socket=daemon.attic)


def chart_draws_and_zooms(daemon, browser, _):
    """Four charts draw, zoom by button and by dragging, pan, and tell the value under the pointer."""
    browser.open(daemon.url + PATH)
    drawn = """return [...document.querySelectorAll('.plot canvas')].filter((c) => {
      const data = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;
      return data.some((value, index) => index % 4 === 3 && value > 0); }).length"""
    wait("four charts are drawn", lambda: browser.js(drawn) >= 4)
    time.sleep(3)
    labels = lambda: browser.texts(".plot[data-curve=voltage_V] .dygraph-axis-label-x")
    before = labels()
    browser.click(".tools button", "+")
    browser.click(".tools button", "+")
    wait("zooming in changes the time axis", lambda: labels() != before)
    zoomed = labels()
    browser.click(".tools button", "←")
    wait("panning changes it again", lambda: labels() != zoomed)
    browser.click(".tools button", "Now")
    if browser.js("return document.querySelector('.tools button').getAttribute('aria-pressed')") != "true":
        raise Failure("the span that is shown is not marked")
    # The pointer over the curve's newest part, then a drag over it.
    time.sleep(2)
    box = browser.js("""const c = document.querySelector('.plot .canvas'); c.scrollIntoView({ block: 'center' });
      const r = c.getBoundingClientRect(); return [r.left, r.top, r.width, r.height]""")
    mouse = lambda kind, x, buttons=0: browser.driver.execute_cdp_cmd("Input.dispatchMouseEvent", {
        "type": kind, "x": box[0] + box[2] * x, "y": box[1] + box[3] / 2, "buttons": buttons,
        "button": "left" if kind != "mouseMoved" or buttons else "none", "clickCount": 1})
    mouse("mouseMoved", 0.95)
    wait("the value under the pointer is told", lambda: " V" in browser.text(".cursor") and " A" in browser.text(".cursor"))
    whole = labels()
    mouse("mousePressed", 0.5, 1)
    for step in range(5, 10):
        mouse("mouseMoved", step / 10, 1)
    mouse("mouseReleased", 0.9)
    wait("dragging zooms", lambda: labels() != whole)


def chart_shows_the_past(daemon, browser, _):
    """What was measured before the page was opened is drawn, and a chart of months is no error."""
    box = """const r = document.querySelector('.plot .canvas').getBoundingClientRect();
      return [r.left, r.top, r.width, r.height]"""

    def second(x):
        """The time of day, in seconds, of the reading under the pointer."""
        left, top, width, height = browser.js(box)
        browser.driver.execute_cdp_cmd("Input.dispatchMouseEvent", {
            "type": "mouseMoved", "x": left + width * x, "y": top + height / 2, "button": "none"})
        found = re.search(r"(\d+):(\d+):(\d+)", browser.text(".cursor"))
        return found and sum(int(part) * unit for part, unit in zip(found.groups(), (3600, 60, 1)))

    def look():
        # Anew each time, so that it is not the page that remembers.
        browser.open("about:blank")
        browser.open(daemon.url + PATH)
        wait("the charts are there", lambda: browser.js("return document.querySelectorAll('.plot canvas').length") > 0)
        browser.js("document.querySelector('.plot .canvas').scrollIntoView({ block: 'center' })")
        time.sleep(1)
        now, then = second(0.98), second(0.93)
        return now and then and now % 86400 - then >= 10

    wait("the curves begin before the page was opened", look)
    browser.click(".tools button", "6 months")
    wait("months are asked for", lambda: browser.js(
        "return performance.getEntriesByType('resource').filter((e) => e.name.includes('/series?')).length") >= 2)
    time.sleep(1)
    if browser.text(".chart .hint"):
        raise Failure(f"of months it says: {browser.text('.chart .hint')}")


def recording_is_made(daemon, browser, _):
    """A recording begins and ends by button, adds up, is listed with those of all meters, drawn and exported."""
    title = f"phone {browser.theme} {browser.size[0]}"
    browser.open(daemon.url + PATH)
    row = lambda: next((words for words in browser.texts(".recordings tbody tr") if title in words), "")
    wait("the name can be given", lambda: browser.js("return document.querySelector('#record-name')?.offsetParent !== null"))
    browser.js("document.querySelector('#record-name').value = arguments[0]", title)
    browser.click(".record button", "Record")
    wait("it goes on", lambda: "goes on" in row())
    wait("it adds up", lambda: "JSON" in row() and "0.000 Wh" not in row())
    browser.click(".record button", "Stop recording")
    wait("it is over", lambda: "stopped by hand" in row())
    browser.js("""const make = URL.createObjectURL.bind(URL);
      URL.createObjectURL = (blob) => { blob.text().then((text) => { window.saved = text; }); return make(blob); };""")
    browser.click(f".links a[aria-label='Readings as CSV of {title}']")
    lines = wait("it is exported", lambda: browser.js("return window.saved")).split("\r\n")
    if not lines[0].startswith("time,") or "voltage_V" not in lines[0] or len(lines) < 3:
        raise Failure(f"the export begins {lines[:2]}")
    browser.open(daemon.url + "/#/recordings")
    wait("it is among those of all meters", lambda: title in row() and "demo UM25C" in row())
    browser.click(f".links a[aria-label='Chart of {title}']")
    wait("it is drawn", lambda: browser.js("return document.querySelectorAll('.plot canvas').length") > 0
         and "/series?" in browser.js("return performance.getEntriesByType('resource').map((e) => e.name).join()"))
    if "true" in browser.js("return [...document.querySelectorAll('.tools button')].map((b) => b.ariaPressed).join()"):
        raise Failure("the charts follow what comes, and do not show the recording")


def hostile_name_is_text(daemon, browser, _):
    """A name full of markup is shown as it is, everywhere."""
    daemon.must("set", "02:00:00:00:34:0C", f"name={HOSTILE}", f"notes={HOSTILE}")
    try:
        browser.open(daemon.url + "/")
        wait("the name is shown as text", lambda: HOSTILE in browser.texts(".card h2"))
        browser.open(daemon.url + "/#/meter/02%3A00%3A00%3A00%3A34%3A0C")
        wait("it is the title of its own page", lambda: browser.text("main h1") == HOSTILE)
        wait("it is in the settings", lambda: browser.js(
            "return document.querySelector('#set-notes')?.value") == HOSTILE)
        if browser.js("return document.querySelectorAll('main img').length") != 0 or browser.driver.title == "1":
            raise Failure("a name was taken for markup")
    finally:
        daemon.must("set", "02:00:00:00:34:0C", "name=demo UM34C", "notes=")


def settings_are_saved(daemon, browser, _):
    """A setting is saved, comes back, and the history has what it replaced."""
    text = f"by {browser.theme} {browser.size[0]}"
    browser.open(daemon.url + PATH)
    wait("the settings are there", lambda: browser.js("return Boolean(document.querySelector('#set-notes'))"))
    for value in ("first " + text, text):
        browser.js("const i = document.querySelector('#set-notes'); i.value = arguments[0]", value)
        browser.click(".settings button", "Save")
        wait("it is saved", lambda: daemon.must("get", METER, "notes").out.strip() == value)
    wait("the history names who and what", lambda: "first " + text in browser.text("section[aria-label='Who changed what']"))
    browser.js("document.querySelector('[name=\"poll-interval\"]').value = 'soon'")
    browser.click(".settings button", "Save")
    wait("what is not legal is said", lambda: "poll-interval" in browser.text(".settings .error"))


def log_is_shown(daemon, browser, _):
    """What happened to a meter, with who commanded it."""
    browser.open(daemon.url + PATH)
    place = "section[aria-label='What happened']"
    wait("it says who has it", lambda: "Held over" in browser.text(place) and "token" in browser.text(place))
    daemon.must("command", METER, "next-screen")
    browser.open(daemon.url + "/")
    browser.open(daemon.url + PATH)
    wait("it says what was commanded", lambda: "next-screen: done" in browser.text(place))
    if browser.js("return document.querySelectorAll(\"section[aria-label='What happened'] tbody tr\").length") < 2:
        raise Failure("the log has fewer lines than things that happened")


def host_is_shown(daemon, browser, _):
    """Cloud, sync, leases and store of this host."""
    browser.open(daemon.url + "/#/host")
    wait("the cloud is reached", lambda: "Reached" in browser.text("section[aria-label='Cloud and sync']"))
    wait("the leases are listed", lambda: "this host" in browser.text("section[aria-label='Who has which meter']"))
    wait("the store is named", lambda: "meterd.sqlite" in browser.text("section[aria-label=Store]"))


def can_be_read_by_everybody(daemon, browser, axe):
    """axe finds nothing in labels, contrast, landmarks and the like, on every view; nothing is wider than the screen."""
    for path, ready in (("/", ".card"), (PATH, ".settings"), (PATH, ".log table"), ("/#/recordings", ".recordings table"), ("/#/host", "section table")):
        browser.open(daemon.url + path)
        wait(f"{path} is there", lambda: browser.js("return Boolean(document.querySelector(arguments[0]))", ready))
        over = browser.js("return document.documentElement.scrollWidth - document.documentElement.clientWidth")
        if over > 0:
            raise Failure(f"{path} is {over} px wider than the screen")
        if axe is None:
            continue
        browser.js(axe)
        found = browser.driver.execute_async_script(
            "const done = arguments[0]; axe.run(document).then((r) => done(r.violations.map((v) => "
            "`${v.id}: ${v.nodes.slice(0, 3).map((n) => n.html.slice(0, 120)).join(' | ')}`)))")
        if found:
            raise Failure(f"{path}: {'; '.join(found)}")


def keyboard_reaches_everything(daemon, browser, _):
    """Tab goes over the skip link to the first meter, with a visible focus."""
    browser.open(daemon.url + "/")
    wait("cards are there", lambda: browser.js("return document.querySelectorAll('.card').length") == 4)
    seen = []
    for _ in range(10):
        for kind in ("keyDown", "keyUp"):
            browser.driver.execute_cdp_cmd("Input.dispatchKeyEvent", {
                "type": kind, "key": "Tab", "code": "Tab", "windowsVirtualKeyCode": 9})
        seen.append(browser.js("return document.activeElement.textContent.trim()"))
        if browser.js("return getComputedStyle(document.activeElement).outlineStyle") == "none":
            raise Failure(f"nothing shows that {seen[-1]} has the focus")
    for word in ("Skip to content", "Recordings", "This host", "Theme: system", "demo UM25C", "Disconnect"):
        if word not in seen:
            raise Failure(f"Tab does not reach {word}: {seen}")


def login(daemon, browser, _):
    """Opened to the network it asks for the token, lets in with it, and out again; the token is nowhere afterwards."""
    told = daemon.json("web", "enable", "--listen", "127.0.0.1:0")
    url, token = told["urls"][0].rstrip("/"), told["token"]
    try:
        browser.open(url + "/")
        wait("it asks for the token", lambda: "Token" in browser.text("form label"))
        enter = lambda text: browser.js(
            "const i = document.querySelector('#token'); i.value = arguments[0]; i.form.requestSubmit()", text)
        enter("mgt_wrong")
        wait("a wrong one is refused", lambda: "not the token" in browser.text("#login-error"))
        enter(token)
        wait("it lets in", lambda: len(browser.texts(".card")) == 4)
        kept = browser.js("return document.cookie + JSON.stringify(localStorage) + location.href")
        if token in kept or "meterd_login" in kept:
            raise Failure("scripts can see the token or the login")
        browser.click("#logout")
        wait("it asks again", lambda: "Token" in browser.text("form label"))
        if token in daemon.log:
            raise Failure("the token is in the log")
    finally:
        daemon.must("web", "disable")
        daemon.url = daemon.json("web", "url")["urls"][0].rstrip("/")


def lost_and_found(daemon, browser, _):
    """A page whose meterd is gone says so, and goes on when it is back."""
    browser.open(daemon.url + "/")
    wait("it is live", lambda: browser.text("#link") == "Live")
    browser.driver.execute_cdp_cmd("Network.enable", {})
    daemon.must("web", "enable", "--listen", "127.0.0.1:0")
    wait("the loss is told", lambda: "lost" in browser.text("#link"))
    daemon.must("web", "disable")
    daemon.url = daemon.json("web", "url")["urls"][0].rstrip("/")


CASES = [meters_appear, connect_and_disconnect, take_over, chart_draws_and_zooms, chart_shows_the_past, recording_is_made,
         hostile_name_is_text, settings_are_saved, log_is_shown, host_is_shown, can_be_read_by_everybody, keyboard_reaches_everything, login, lost_and_found]
# What depends on neither size nor theme runs once.
ONCE = {take_over, keyboard_reaches_everything, login, lost_and_found, settings_are_saved, chart_shows_the_past}


# What a case brings about on purpose, as the browser's console words it.
EXPECTED = {settings_are_saved: ("status of 400",), login: ("status of 401", "net::ERR_"), lost_and_found: ("net::ERR_", "status of 401")}


def weighs_little(daemon):
    """The whole page with its charts, as a first visit gets it."""
    browser = Browser(DESKTOP, "light")
    try:
        browser.open(daemon.url + PATH)
        wait("the charts are there", lambda: browser.js("return document.querySelectorAll('.plot canvas').length") > 0)
        wait("the settings are there", lambda: browser.js("return Boolean(document.querySelector('#set-notes'))"))
        browser.watch()
        sent = browser.js("""return performance.getEntriesByType('resource').concat(performance.getEntriesByType('navigation'))
          .filter((e) => !e.name.includes('/v1/live')).reduce((sum, e) => sum + e.transferSize, 0)""")
        if sent > WEIGHT_MAX:
            raise Failure(f"{sent} bytes are more than {WEIGHT_MAX}")
        took = browser.js("return performance.getEntriesByType('navigation')[0].loadEventEnd")
        return f"{sent} bytes, loaded after {took:.0f} ms"
    finally:
        browser.quit()


def run_case(case, daemon, browser, axe, pictures):
    name = f"{case.__name__} {browser.size[0]}x{browser.size[1]} {browser.theme}"
    began = time.monotonic()
    try:
        case(daemon, browser, axe)
        browser.watch()
        browser.errors = [error for error in browser.errors if not any(words in error for words in EXPECTED.get(case, ()))]
        if browser.errors:
            raise Failure(f"the console has {browser.errors[:2]}")
        away = [url for url in browser.requests
                if not url.startswith(("http://127.0.0.1:", "blob:http://127.0.0.1:", "data:", "about:", "chrome"))]
        if away:
            raise Failure(f"requests left: {away[:3]}")
    except Exception as failure:  # One broken case does not hide the others.
        print(f"FAILED {name}: {failure}")
        if not isinstance(failure, Failure):
            traceback.print_exc()
        browser.picture(f"{pictures or '/tmp'}/failed-{case.__name__}-{browser.size[0]}-{browser.theme}.png")
        browser.watch()
        browser.errors = []
        return False
    print(f"ok     {name} ({time.monotonic() - began:.1f} s)")
    return True


def take_pictures(daemon, browser, folder):
    kind = "phone" if browser.size == PHONE else "desktop"
    for view, path in (("meters", "/"), ("meter", PATH), ("recordings", "/#/recordings"), ("host", "/#/host")):
        browser.open(daemon.url + path)
        time.sleep(3)
        browser.picture(f"{folder}/{view}-{kind}-{browser.theme}.png", whole=view != "meters")


def main():
    parser = command_line(__doc__)
    parser.add_argument("--pictures", help="where to put pictures of every view")
    parser.add_argument("--axe", help="axe.min.js; without it nothing is said of contrast and labels")
    parser.add_argument("cases", nargs="*")
    arguments = parser.parse_args()
    cases = [case for case in CASES if not arguments.cases or case.__name__ in arguments.cases]
    axe = open(arguments.axe).read() if arguments.axe else None
    if axe is None:
        print("skipped: axe's checks, because PyPI cannot be reached")
    daemon = Daemon(arguments.bin)
    good = True
    try:
        daemon.start()
        if not arguments.cases:
            print(f"ok     weighs_little: {weighs_little(daemon)}")
        is_first = True
        for size in (DESKTOP, PHONE):
            for theme in ("light", "dark"):
                browser = Browser(size, theme)
                try:
                    for case in cases:
                        if is_first or case not in ONCE:
                            good &= run_case(case, daemon, browser, axe, arguments.pictures)
                    if arguments.pictures:
                        take_pictures(daemon, browser, arguments.pictures)
                finally:
                    browser.quit()
                is_first = False
    finally:
        try:
            daemon.end()
        except Failure as failure:
            print(f"FAILED {failure}")
            good = False
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
