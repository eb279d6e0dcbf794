"""What the page says when something is lost: meterd, a meter, a login."""

import functools
import signal
import time

from browser import Daemon, wait
from harness import Failure, Program

# After which nothing may look live any more, s; and what the browser and this test may take to see it.
LIMIT, SLACK = 3, 1.5


def live_words(browser):
    """What still looks as if it were true now."""
    words = [word for word in (browser.text("#link"), *browser.texts(".badge")) if "Live" in word]
    return words + browser.js("""return [...document.querySelectorAll('.card[data-tone=live], [data-tone=live] .values')].map((e) => e.className)""")


def must_look_old(browser, cause):
    began = time.monotonic()
    wait(f"nothing looks live after {cause}", lambda: not live_words(browser))
    took = time.monotonic() - began
    if took > LIMIT + SLACK:
        raise Failure(f"after {cause} it took {took:.1f} s until nothing looked live")
    leases = browser.texts(".lease")
    time.sleep(2.2)
    if browser.texts(".lease") != leases or not all("when last heard" in words for words in leases if "left" in words):
        raise Failure(f"the leases go on: {leases[:2]}, {browser.texts('.lease')[:2]}")
    if "meterd does not answer since" not in browser.text("#link"):
        raise Failure(f"it says {browser.text('#link')!r} after {cause}")


def meterd_is_lost(daemon, browser, _):
    """Within 3 s of meterd hanging or being killed nothing looks live, and the page says since when."""
    other = Daemon(daemon.bin)
    try:
        other.start()
        browser.open(other.url + "/")
        wait("it is live", lambda: browser.texts(".badge") == ["Live"] * 4)
        other.signal(signal.SIGSTOP)
        must_look_old(browser, "SIGSTOP")
        other.signal(signal.SIGCONT)
        wait("it is live again", lambda: browser.texts(".badge") == ["Live"] * 4 and browser.text("#link") == "Live")
        browser.open(other.url + "/#/meter/02%3A00%3A00%3A00%3A25%3A0C")
        wait("a meter's own view is live", lambda: browser.texts(".badge") == ["Live"])
        other.kill()
        must_look_old(browser, "SIGKILL")
    finally:
        # The page would go on looking for it.
        browser.open("about:blank")
        other.kill()
        other.end()


def meter_falls_silent(daemon, browser, _):
    """A meter that answers no more is silent within 3 s, while the others and meterd go on."""
    meter = Program("silent-meter", [f"{daemon.bin}/meterctl", "simulate", "um24c", "--pty", "--seed", "9"], daemon.folder, takes_orders=True)
    meter.start()
    port = meter.wait_for(r"(/dev/pts/\d+)").group(1)
    name = "silent one"
    daemon.must("connect", port, "--model", "um24c", "--id", "02:00:00:00:99:0C")
    daemon.must("set", "02:00:00:00:99:0C", f"name={name}")
    try:
        browser.open(daemon.url + "/")
        badge = lambda: browser.js("return document.querySelector('.card[data-id=\"02:00:00:00:99:0C\"] .badge')?.textContent ?? ''")
        wait("it is live", lambda: badge() == "Live")
        meter.order("fault silence")
        began = time.monotonic()
        wait("it is silent", lambda: badge() != "Live")
        if time.monotonic() - began > LIMIT + SLACK:
            raise Failure(f"it took {time.monotonic() - began:.1f} s")
        wait("the page says so", lambda: "Silent for" in badge()
             and "the meter is silent" in browser.js("return document.querySelector('.card[data-id=\"02:00:00:00:99:0C\"] .loss').textContent"))
        if browser.text("#link") != "Live" or browser.texts(".badge").count("Live") != 4:
            raise Failure(f"others look lost: {browser.texts('.badge')}")
        meter.order("fault none")
        wait("it is live again", lambda: badge() == "Live")
    finally:
        daemon.must("disconnect", "02:00:00:00:99:0C")
        daemon.must("forget", "02:00:00:00:99:0C", "--yes")
        meter.stop(20)


def lost_and_found(daemon, browser, _):
    """A page whose meterd is gone says so, and goes on when it is back."""
    browser.open(daemon.url + "/")
    wait("it is live", lambda: browser.text("#link") == "Live")
    daemon.must("web", "enable", "--listen", "127.0.0.1:0")
    wait("the loss is told", lambda: "does not answer since" in browser.text("#link"))
    daemon.must("web", "disable")
    daemon.url = daemon.json("web", "url")["urls"][0].rstrip("/")


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


def https_is_visited(daemon, browser, _):
    """Over https, with meterd's own certificate, the page lets in and is live; its cookie never leaves over plain HTTP."""
    other = Daemon(daemon.bin, web='tls = "self-signed"\n')
    ignore = functools.partial(browser.driver.execute_cdp_cmd, "Security.setIgnoreCertificateErrors")
    try:
        other.start()
        told = other.json("web", "enable", "--listen", "127.0.0.1:0")
        ignore({"ignore": True})
        browser.open(f"https://{told['listen']}/")
        wait("it asks for the token", lambda: "Token" in browser.text("form label"))
        browser.js("const i = document.querySelector('#token'); i.value = arguments[0]; i.form.requestSubmit()", told["token"])
        wait("it is live", lambda: browser.texts(".badge") == ["Live"] * 4 and browser.text("#link") == "Live")
        cookies = browser.driver.get_cookies()
        if [cookie["secure"] for cookie in cookies] != [True]:
            raise Failure(f"the cookies are {cookies}")
    finally:
        # The page would go on looking for it.
        browser.open("about:blank")
        ignore({"ignore": False})
        other.end()


def pages_left_behind_hold_nothing(daemon, browser, _):
    """A browser opens six connections to a host: pages that were left, and are kept for going back, hold none of them."""
    for _ in range(8):
        browser.open("about:blank")
        browser.open(daemon.url + "/#/efficiency")
    wait("the last one is answered", lambda: "Wh came out" in browser.text("section[aria-label=Efficiency] p"))


CASES = [pages_left_behind_hold_nothing, meterd_is_lost, meter_falls_silent, lost_and_found, login, https_is_visited]
ONCE = set(CASES)
EXPECTED = {meterd_is_lost: ("net::ERR_", "Failed to load"), lost_and_found: ("net::ERR_", "status of 401"), login: ("status of 401", "net::ERR_"),
            # Without a trusted certificate the browser refuses to install the page, and says so.
            https_is_visited: ("status of 401", "An SSL certificate error")}
