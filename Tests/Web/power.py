"""What a meter heard of USB Power Delivery, in a browser: the contract, the offers, what was said, live and as files."""

import json
import re

from browser import HOSTILE, wait
from harness import Failure

METER = "usb:5fc9:0063:DEMO003C"
ROUTE = "/v1/meters/usb%3A5fc9%3A0063%3ADEMO003C/pd"
PD_PATH = "/#/meter/usb%3A5fc9%3A0063%3ADEMO003C"
SAID = ".said li"


def open_panel(daemon, browser):
    browser.open("about:blank")
    browser.open(daemon.url + PD_PATH)
    wait("what was heard is shown", lambda: browser.texts(SAID))


def shown(browser):
    """The entries that a person sees, oldest first."""
    return browser.js("return [...document.querySelectorAll('.said li')].filter((e) => e.offsetParent !== null).map((e) => e.textContent)")


def power_delivery_is_shown(daemon, browser, _):
    """The contract in words, the offers as a table with the one in use, who said what to whom, and VBUS and CC beside it."""
    open_panel(daemon, browser)
    # The simulated phone asks for 9 V after ten seconds; later for a programmable voltage, and back.
    wait("a contract is told", lambda: re.search(r"[0-9.]+ V, [0-9.]+ A", browser.text(".pd .agreed")))
    offers = browser.texts(".pd table tbody tr")
    # Its charger offers more once it has asked for an extended range.
    if len(offers) < 6 or not any(re.search(r"PPS(3\.3–11|5–21) V", row) for row in offers):
        raise Failure(f"it offers {offers}")
    if sum("in use" in row for row in offers) != 1:
        raise Failure(f"one of them is in use: {offers}")
    wait("VBUS and CC have values", lambda: all(re.search(r"\d", cell) for cell in browser.texts(".pd .values b")))
    texts = shown(browser)
    for words in ("Source_Capabilities", "Request", "Accept", "PS_RDY", "Source → sink", "Sink → source", "Port → cable", "Plugged in, CC1"):
        if not any(words in text for text in texts):
            raise Failure(f"nothing says {words}: {texts[:30]}")
    if any("GoodCRC" in text for text in texts):
        raise Failure("receipts are shown unasked")
    browser.click(".pd .pick")
    wait("receipts are shown", lambda: any("GoodCRC" in text for text in shown(browser)))
    browser.click(".pd .pick")
    browser.click(".said summary")
    wait("the bytes are shown", lambda: re.search(r"SOP'?, message \d, revision \d [0-9a-f]+", browser.text(".said details[open] p")))


def power_delivery_is_live(daemon, browser, _):
    """What is said while the page is open comes by itself; nothing is shown twice."""
    open_panel(daemon, browser)
    before = len(browser.texts(SAID))
    count = json.loads(daemon.fetch(ROUTE))["last"]
    wait("more was said", lambda: json.loads(daemon.fetch(ROUTE))["last"] > count)
    wait("and is shown", lambda: len(browser.texts(SAID)) > before)
    times = browser.js("return [...document.querySelectorAll('.said time')].map((e) => e.dateTime)")
    if times != sorted(times):
        raise Failure("it is not in order")
    last = json.loads(daemon.fetch(ROUTE))["last"]
    if len(times) > last:
        raise Failure(f"{len(times)} are shown of {last}")


def power_delivery_is_a_file(daemon, browser, _):
    """As text and as pcapng, by links."""
    open_panel(daemon, browser)
    links = browser.js("return [...document.querySelectorAll('.pd a.button')].map((a) => a.pathname + a.search)")
    if [link.rsplit("=", 1)[1] for link in links] != ["text", "pcapng"]:
        raise Failure(f"the links are {links}")
    text = daemon.fetch(links[0])
    if "Source_Capabilities: 5 V 3 A" not in text or not text.startswith(f"USB Power Delivery heard by {METER}"):
        raise Failure(f"the text is {text[:300]}")
    head = browser.driver.execute_async_script(
        "const done = arguments[1]; fetch(arguments[0]).then((r) => r.arrayBuffer()).then((b) => done([...new Uint8Array(b.slice(0, 4))]))", links[1])
    if head != [0x0A, 0x0D, 0x0D, 0x0A]:
        raise Failure(f"the file begins with {head}")


def power_delivery_is_text(daemon, browser, _):
    """Markup in what was heard would be shown as it is: the page puts texts in as texts."""
    open_panel(daemon, browser)
    body = json.loads(daemon.fetch(ROUTE))
    entry = next(one for one in body["entries"] if one.get("message"))
    entry["text"], entry["message"]["name"], entry["message"]["meaning"], entry["message"]["bytes"] = [HOSTILE] * 4
    body["entries"], body["contract"] = [entry], {"text": HOSTILE, "position": 1, "voltage_V": 5, "current_A": 3, "power_W": None, "since": HOSTILE}
    body["capabilities"] = [{"position": 1, "kind": HOSTILE, "text": HOSTILE, "voltage_min_V": None, "voltage_max_V": None,
                             "current_max_A": None, "power_max_W": None, "abilities": [HOSTILE]}]
    browser.js("""const answer = arguments[0]; const real = window.fetch;
      window.fetch = (path, ...rest) => String(path).includes('/pd?after=')
        ? Promise.resolve(new Response(JSON.stringify(answer), { headers: { 'Content-Type': 'application/json' } })) : real(path, ...rest);""", body)
    wait("it is shown", lambda: HOSTILE in browser.text(".said b") and HOSTILE in browser.text(".pd table"))
    if browser.js("return document.querySelectorAll('.pd img').length") or browser.js("return document.title") == "1":
        raise Failure("it was taken for markup")


def only_who_hears_it_shows_it(daemon, browser, _):
    """A meter that hears no PD has no such part, and its page does not load what draws it."""
    browser.open("about:blank")
    browser.open(daemon.url + "/#/meter/02%3A00%3A00%3A00%3A25%3A0C")
    wait("the meter is shown", lambda: browser.texts(".log table"))
    if browser.js("return document.querySelector('.pd') !== null || performance.getEntriesByType('resource').some((e) => e.name.endsWith('/pd.js'))"):
        raise Failure("it shows what it does not hear")


CASES = [power_delivery_is_shown, power_delivery_is_live, power_delivery_is_a_file, power_delivery_is_text, only_who_hears_it_shows_it]
ONCE = {power_delivery_is_live, power_delivery_is_a_file, only_who_hears_it_shows_it}
