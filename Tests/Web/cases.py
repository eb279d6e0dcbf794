"""The web page in a real browser, at a real meterd with simulated meters. See README.md.

usage: Tests/Web/run [--bin FOLDER] [CASE…]
"""

import sys
import tempfile
import time
import traceback

try:
    from browser import DESKTOP, PATH, PHONE, Browser, Daemon, wait
except ImportError as missing:
    print(f"skipped: the browser tests, which need {missing.name} (apt-get install python3-selenium)")
    sys.exit(75)

import alerting  # noqa: E402 - they need a browser
import behind  # noqa: E402
import charting  # noqa: E402
import faults  # noqa: E402
import keeping  # noqa: E402
import overview  # noqa: E402
import power  # noqa: E402
from harness import METER, Failure, command_line  # noqa: E402 - where browser has found it

# The goal is 200 kB; the files come compressed.
WEIGHT_MAX = 150_000


def log_is_shown(daemon, browser, _):
    """What happened to a meter, with who commanded it."""
    browser.open(daemon.url + PATH)
    place = "section[aria-label='What happened']"
    wait("it says who has it", lambda: "Held over" in browser.text(place) and "token" in browser.text(place))
    daemon.must("command", METER, "next-screen")
    browser.open(daemon.url + "/")
    browser.open(daemon.url + PATH)
    wait("it says what was commanded", lambda: "next-screen: sent" in browser.text(place))
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
    for path, ready in (("/", ".card"), (PATH, "#set-notes"), (PATH, ".log table"), (power.PD_PATH, ".said li"), ("/#/recordings", ".recordings .tools"),
                        ("/#/compare", ".compare, .choose"), ("/#/efficiency", ".choose option"), ("/#/host", "section table")):
        browser.open(daemon.url + path)
        wait(f"{path} is there", lambda: browser.js("return Boolean(document.querySelector(arguments[0]))", ready))
        browser.must_be_readable(axe, path)


def keyboard_reaches_everything(daemon, browser, _):
    """Tab goes over the skip link to the first meter, with a visible focus."""
    browser.open(daemon.url + "/")
    wait("cards are there", lambda: browser.js("return document.querySelectorAll('.card').length") == 4)
    seen = []
    for _ in range(12):
        browser.key("Tab")
        seen.append(browser.js("return document.activeElement.textContent.trim()"))
        if browser.js("return getComputedStyle(document.activeElement).outlineStyle") == "none":
            raise Failure(f"nothing shows that {seen[-1]} has the focus")
    for word in ("Skip to content", "Recordings", "This host", "Theme: system", "demo UM25C", "✎", "⠿", "Disconnect"):
        if word not in seen:
            raise Failure(f"Tab does not reach {word}: {seen}")


CASES = [*overview.CASES, *charting.CASES, *keeping.CASES, *alerting.CASES, *power.CASES, log_is_shown, host_is_shown,
         can_be_read_by_everybody, keyboard_reaches_everything, *behind.CASES, *faults.CASES]
# What depends on neither size nor theme runs once.
ONCE = {keyboard_reaches_everything, *overview.ONCE, *charting.ONCE, *keeping.ONCE, *alerting.ONCE, *power.ONCE, *behind.ONCE, *faults.ONCE}
# What a case brings about on purpose, as the browser's console words it.
EXPECTED = {**keeping.EXPECTED, **alerting.EXPECTED, **behind.EXPECTED, **faults.EXPECTED}


def weighs_little(daemon):
    """The whole page with its charts, as a first visit gets it."""
    browser = Browser(DESKTOP, "light")
    try:
        browser.open(daemon.url + PATH)
        wait("the chart is there", lambda: browser.js("return document.querySelector('.plot canvas')?.width > 0"))
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


def run_case(case, daemon, browser, axe):
    name = f"{case.__name__} {browser.size[0]}x{browser.size[1]} {browser.theme}"
    began = time.monotonic()
    try:
        case(daemon, browser, axe)
        browser.watch()
        browser.errors = [error for error in browser.errors if not any(words in error for words in EXPECTED.get(case, ()))]
        if browser.errors:
            raise Failure(f"the console has {browser.errors[:2]}")
        away = [url for url in browser.requests
                if not url.startswith(("http://127.0.0.1:", "https://127.0.0.1:", "blob:http://127.0.0.1:", "data:", "about:", "chrome"))]
        if away:
            raise Failure(f"requests left: {away[:3]}")
    except Exception as failure:  # One broken case does not hide the others.
        print(f"FAILED {name}: {failure}")
        if not isinstance(failure, Failure):
            traceback.print_exc()
        browser.picture(f"{tempfile.gettempdir()}/failed-{case.__name__}-{browser.size[0]}-{browser.theme}.png")
        browser.watch()
        browser.errors = []
        return False
    print(f"ok     {name} ({time.monotonic() - began:.1f} s)")
    return True


LOOKS = {"meters_appear", "chart_draws_and_zooms", "can_be_read_by_everybody", "alert_is_added_and_raised"}


def main():
    parser = command_line(__doc__)
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
                        # What a case does is the same in the dark; how it looks is not.
                        if is_first or case not in ONCE and (theme == "light" or case.__name__ in LOOKS):
                            good &= run_case(case, daemon, browser, axe)
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
