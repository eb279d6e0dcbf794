"""The overview in a browser: cards, their order and their names."""

import json

from browser import DESKTOP, wait
from harness import METER, Failure


def card(browser, name):
    """The words of one meter's card."""
    return next((words for words in browser.texts(".card") if name in words), "")


def meters_appear(daemon, browser, _):
    """Four meters are there with their names, their values move, and their curves begin before the page was opened."""
    browser.open(daemon.url + "/")
    wait("four cards are live", lambda: browser.texts(".card .badge") == ["Live"] * 4)
    names = browser.texts(".card h2")
    for name in ("demo UM25C", "demo UM34C", "demo TC66C", "demo KM003C"):
        if name not in names:
            raise Failure(f"{name} is not among {names}")
    before = browser.texts(".card .big b")
    wait("values move", lambda: browser.texts(".card .big b") != before)
    wait("the lease counts down", lambda: "left" in browser.text(".card .lease"))
    # Ten points came in while this looked; the store has had more.
    wait("the curves are filled from the store", lambda: browser.js(
        "return [...document.querySelectorAll('.curve path')].every((c) => c.getAttribute('d').split('L').length > 12)"))
    wait("their scale is told", lambda: browser.text(".scale").count(" W · 2 min") == 4)


def connect_and_disconnect(daemon, browser, _):
    """Disconnect lets go, connect takes back, and the card says so."""
    browser.open(daemon.url + "/")
    browser.click("button[aria-label='Disconnect demo UM25C']")
    wait("it is let go", lambda: "Not connected" in card(browser, "demo UM25C"))
    browser.click("button[aria-label='Connect demo UM25C']")
    wait("it is live again", lambda: "Live" in card(browser, "demo UM25C"))


def take_over(daemon, browser, _):
    """A meter that the other host has is live through it, names its holder, and is taken over once somebody is sure."""
    daemon.must("disconnect", METER)
    port = json.loads(daemon.fetch(f"/v1/meters/{METER.replace(':', '%3A')}"))["port"]
    daemon.must("connect", port, "--model", "um25c", "--id", METER, socket=daemon.attic)
    browser.open(daemon.url + "/")
    wait("its holder is named", lambda: "held by demo-attic" in card(browser, "demo UM25C"))
    wait("it is live through that", lambda: "Live at demo-attic" in card(browser, "demo UM25C"))
    browser.click("button[aria-label='Take over demo UM25C']")
    wait("it is asked", lambda: "cut off" in browser.text("dialog"))
    browser.click("dialog button", "Cancel")
    wait("nothing happens", lambda: not browser.texts("dialog") and "held by demo-attic" in card(browser, "demo UM25C"))
    browser.click("button[aria-label='Take over demo UM25C']")
    browser.click("dialog button", "Take over")
    wait("it is live here", lambda: "Live" in card(browser, "demo UM25C") and "Held here" in card(browser, "demo UM25C"))
    daemon.must("disconnect", METER, socket=daemon.attic)


def order_is_kept(daemon, browser, _):
    """A card is moved by keyboard and by dragging, and lies there the next time."""
    browser.open(daemon.url + "/")
    order = lambda: browser.texts(".card h2")
    wait("four cards are there", lambda: len(order()) == 4)
    before = order()
    browser.js("document.querySelector('.card .mover').focus()")
    browser.key("ArrowRight")
    moved = [before[1], before[0], *before[2:]]
    wait("it is moved by keyboard", lambda: order() == moved)
    browser.open("about:blank")
    browser.open(daemon.url + "/")
    wait("it is remembered", lambda: order() == moved)
    if browser.size == DESKTOP:
        x, y, width, height = browser.box(".card:nth-child(2) .mover")
        target = browser.box(".card:nth-child(1)")
        send = lambda kind, x, y, buttons: browser.driver.execute_cdp_cmd("Input.dispatchMouseEvent", {
            "type": kind, "x": x, "y": y, "buttons": buttons, "button": "left", "clickCount": 1})
        send("mousePressed", x + width / 2, y + height / 2, 1)
        send("mouseMoved", target[0] + 40, target[1] + 40, 1)
        send("mouseReleased", target[0] + 40, target[1] + 40, 0)
        wait("it is dragged back", lambda: order() == before)
    browser.js("localStorage.clear()")


def renamed_in_place(daemon, browser, _):
    """A card's name is changed where it stands."""
    browser.open(daemon.url + "/")
    browser.click("button[aria-label='Rename demo TC66C']")
    browser.type(".rename input", "bench lamp")
    browser.click(".rename button", "Save")
    wait("it is renamed", lambda: "bench lamp" in browser.texts(".card h2"))
    daemon.must("set", "02:00:00:00:66:0C", "name=demo TC66C")
    wait("another's rename is shown", lambda: "demo TC66C" in browser.texts(".card h2"))


def empty_page(daemon, browser, _):
    """Where there is no meter, it says how to begin."""
    browser.driver.execute_cdp_cmd("Network.enable", {})
    browser.open(daemon.url + "/")
    wait("cards are there", lambda: len(browser.texts(".card")) == 4)
    browser.driver.execute_async_script("""const done = arguments[0];
      import("/live.js").then(({ state }) => { state.meters.clear(); dispatchEvent(new HashChangeEvent("hashchange", { oldURL: location.href })); done(); })""")
    if "Plug" not in browser.text(".empty-page").title():
        raise Failure(f"it says {browser.text('.empty-page')!r}")


CASES = [meters_appear, connect_and_disconnect, take_over, order_is_kept, renamed_in_place, empty_page]
ONCE = {take_over, renamed_in_place, empty_page}
