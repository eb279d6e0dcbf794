"""The chart of a meter in a browser: what it draws, how it is moved, what is selected on it."""

import re
import time

from browser import PATH, SHIFT, wait
from harness import METER, Failure

PLOT = ".plot"
DRAWN = """const c = document.querySelector('.plot canvas'); if (!c || !c.width) return 0;
  const copy = document.createElement('canvas'); [copy.width, copy.height] = [c.width, c.height];
  const context = copy.getContext('2d', { willReadFrequently: true }); context.drawImage(c, 0, 0);
  const data = context.getImageData(0, 0, c.width, c.height).data; const seen = new Set();
  for (let i = 0; i < data.length; i += 4) if (data[i + 3] === 255) seen.add(`${data[i]},${data[i + 1]},${data[i + 2]}`);
  const style = getComputedStyle(document.documentElement);
  const paint = document.createElement('canvas').getContext('2d');
  return arguments[0].filter((name) => { paint.fillStyle = style.getPropertyValue(name).trim();
    const hex = paint.fillStyle; return seen.has([1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16)).join()); }).length"""
USUAL = ["--c-voltage", "--c-current", "--c-power"]


def address(browser):
    return browser.js("return location.hash")


def open_chart(daemon, browser, more=""):
    browser.open("about:blank")
    browser.open(daemon.url + PATH + more)
    wait("the chart is drawn", lambda: browser.js(DRAWN, USUAL) >= 1)


def chart_draws_and_zooms(daemon, browser, _):
    """Three curves of their own colours; zoomed by button, dragging, wheel and keyboard; the values under the pointer."""
    open_chart(daemon, browser)
    wait("three curves are drawn", lambda: browser.js(DRAWN, USUAL) == 3)
    words = wait("the values under the pointer are told", lambda: over_reading(browser))
    if not all(unit in words for unit in (" V", " A", " W")):
        raise Failure(f"of a reading it tells {words}")
    browser.click(".tools button", "+")
    wait("the button zooms, and the address says so", lambda: "from=" in address(browser))
    zoomed = address(browser)
    browser.drag(PLOT, 0.4, 0.8)
    wait("dragging zooms", lambda: address(browser) != zoomed)
    browser.js("document.querySelector('.plot').focus()")
    for act in (lambda: browser.key("-"), lambda: browser.key("PageUp"), lambda: browser.driver.execute_cdp_cmd(
            "Input.dispatchMouseEvent", dict(zip(("x", "y"), middle(browser)), type="mouseWheel", deltaX=0, deltaY=-200))):
        before = address(browser)
        act()
        wait("keyboard and wheel move it", lambda before=before: address(browser) != before)
    browser.click(".keys button", "Temperature")
    wait("another quantity is drawn", lambda: browser.js(DRAWN, ["--c-temperature"]) == 1 and "temperature_C" in address(browser))


def over_reading(browser, latest=0.95):
    """Moves the pointer from the right to the left until there is a reading under it, and returns what is told of it."""
    for step in range(40):
        browser.mouse("mouseMoved", PLOT, latest - step / 100)
        time.sleep(0.05)
        if " V" in browser.text(".tip"):
            return browser.text(".tip")
    return None


def middle(browser):
    left, top, width, height = browser.box(PLOT)
    return left + width / 2, top + height / 2


def double_click_goes_back(daemon, browser, _):
    """However far somebody has zoomed in, a double click shows the whole again, following what comes."""
    open_chart(daemon, browser)
    for _ in range(2):
        browser.drag(PLOT, 0.3, 0.7)
        time.sleep(0.5)
    wait("it is zoomed", lambda: "from=" in address(browser))
    browser.double_click(PLOT, 0.5)
    wait("the whole is shown", lambda: "from=" not in address(browser))
    if browser.js("return document.querySelector('.seg button').ariaPressed") != "true":
        raise Failure("the range is not marked as what is shown")


def link_shows_the_same(daemon, browser, _):
    """Range, zoom, curves and selection come back from the address."""
    open_chart(daemon, browser)
    browser.click(".keys button", "Power")
    browser.drag(PLOT, 0.5, 0.95)
    wait("it is zoomed", lambda: "from=" in address(browser) and "show=voltage_V,current_A" in address(browser))
    browser.drag(PLOT, 0.4, 0.8, SHIFT)
    wait("a stretch is selected", lambda: "select=" in address(browser))
    time.sleep(0.5)
    link = address(browser)
    browser.open("about:blank")
    browser.open(f"{daemon.url}/{link}")
    wait("its curves are drawn", lambda: browser.js(DRAWN, USUAL) == 2)
    if address(browser) != link:
        raise Failure(f"the address became {address(browser)}, and was {link}")
    wait("the stretch is told", lambda: " to " in browser.text(".stretch .head"))


def chart_shows_the_past(daemon, browser, _):
    """What was measured before the page was opened is drawn, and a chart of a week is no error."""
    def second(part):
        """The time of day, in seconds, of the reading under the pointer."""
        browser.mouse("mouseMoved", PLOT, part)
        time.sleep(0.2)
        found = re.search(r"(\d+):(\d+):(\d+)", browser.text(".tip"))
        return found and " V" in browser.text(".tip") and sum(int(one) * unit for one, unit in zip(found.groups(), (3600, 60, 1)))

    def look():
        # Anew each time, so that it is not the page that remembers.
        open_chart(daemon, browser)
        now, then = second(0.91), second(0.88)
        return now and then and now % 86400 - then >= 5

    wait("the curves begin before the page was opened", look)
    for word in ("1 w", "All"):
        browser.click(".seg button", word)
        wait(f"{word} is shown", lambda word=word: browser.js(
            "return [...document.querySelectorAll('.seg button')].find((b) => b.textContent === arguments[0]).ariaPressed", word) == "true")
        time.sleep(1)
        if browser.text(".chart > .hint"):
            raise Failure(f"of {word} it says: {browser.text('.chart > .hint')}")


def stretch_is_told(daemon, browser, _):
    """A selected stretch has its figures, by pointer and by keyboard, and is cleared again."""
    open_chart(daemon, browser)
    browser.click(".tools button", "Select")
    browser.drag(PLOT, 0.5, 0.97)
    wait("its figures are told", lambda: " Wh" in browser.text(".stretch") and " mAh" in browser.text(".stretch")
         and "Median" in browser.text(".stretch") and "Voltage" in browser.text(".stretch thead"))
    browser.key("Escape")
    wait("it is cleared", lambda: "select=" not in address(browser) and browser.js("return document.querySelector('.stretch').hidden"))
    browser.key("ArrowLeft")
    for _ in range(4):
        browser.key("ArrowLeft", SHIFT)
    wait("the keyboard selects", lambda: "select=" in address(browser))
    wait("and tells what it stands on", lambda: re.search("Voltage|no reading", browser.text(".plot .hear")))
    browser.click(".stretch button", "Save as recording …")
    wait("a name is asked for", lambda: browser.js("return document.querySelector('dialog input') !== null"))
    browser.click("dialog button", "Cancel")


def gap_breaks_the_lines(daemon, browser, _):
    """Where nothing was read, neither curve goes on, and the chart says why."""
    browser.open(daemon.url + "/")
    curve = "return document.querySelector('.card[data-id=\"%s\"] .curve path').getAttribute('d').split('M').length - 1" % METER
    wait("its curve is there", lambda: browser.js(f"return Boolean(document.querySelector('.card[data-id=\"{METER}\"]'))") and browser.js(curve) >= 1)
    daemon.must("disconnect", METER)
    time.sleep(13)
    daemon.must("connect", METER)
    wait("its curve is broken", lambda: browser.js(curve) >= 2)
    browser.open("about:blank")
    browser.open(daemon.url + "/")
    wait("also where it comes from the store", lambda: browser.js(f"return Boolean(document.querySelector('.card[data-id=\"{METER}\"]'))") and browser.js(curve) >= 2)
    browser.open(daemon.url + PATH)
    wait("the chart is drawn", lambda: browser.js(DRAWN, USUAL) == 3)

    def reason():
        for part in range(60, 92):
            browser.mouse("mouseMoved", PLOT, part / 100)
            time.sleep(0.05)
            if "no reading for" in browser.text(".tip"):
                return browser.text(".tip")
        return None
    if "disconnected" not in (wait("the gap is told", reason) or ""):
        raise Failure(f"of the gap it says: {browser.text('.tip')}")


def curves_of_nothing_stay_apart(daemon, browser, _):
    """Of a meter of which nothing is stored here, each live quantity has a curve of its own."""
    browser.open(daemon.url + "/")
    found = browser.driver.execute_async_script("""const done = arguments[0];
      import("/series.js").then(async ({ append, loadSeries }) => {
        const answer = { start: "2026-11-21T13:40:05Z", gap_ms: 10000, t_ms: [], series: {} };
        const real = window.fetch;
        window.fetch = async () => new Response(JSON.stringify(answer), { headers: { "content-type": "application/json" } });
        const track = await loadSeries("m", 0, 1, 10, ["voltage_V", "current_A"]);
        window.fetch = real;
        append(track, 1, { voltage_V: 5, current_A: 2 });
        done(["voltage_V", "current_A"].map((key) => track.columns[key].mean.join() + "/" + track.columns[key].max.join()));
      })""")
    if found != ["5/5", "2/2"]:
        raise Failure(f"voltage and current are {found}")


CASES = [curves_of_nothing_stay_apart, chart_draws_and_zooms, double_click_goes_back, link_shows_the_same, chart_shows_the_past, stretch_is_told, gap_breaks_the_lines]
ONCE = {curves_of_nothing_stay_apart, chart_shows_the_past, gap_breaks_the_lines}
