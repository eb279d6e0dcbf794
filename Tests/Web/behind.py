"""The page behind other servers: below a path of nginx and of Caddy, as Docs/Web.md sets them up, and in a frame of Home Assistant;
and before nobody, when meterd is gone."""

import contextlib
import http.client
import http.server
import os
import re
import shutil
import subprocess
import threading
import urllib.error
import urllib.request

from browser import PATH, Daemon, wait
from harness import METER, ROOT, Failure, Program, free_ports

PROGRAMS = f"{os.environ['PATH']}:/usr/sbin"
# In one process: workers outlive a master that is killed.
NGINX = """daemon off;
master_process off;
pid {folder}/nginx.pid;
events {{}}
http {{
    access_log off;
    client_body_temp_path {folder}/1; proxy_temp_path {folder}/2; fastcgi_temp_path {folder}/3; uwsgi_temp_path {folder}/4; scgi_temp_path {folder}/5;
    server {{
        listen 127.0.0.1:{port};
{example}
    }}
}}
"""
CADDY = """{{
    admin off
    auto_https off
}}
http://127.0.0.1:{port} {{
{example}
}}
"""


def example(language, page):
    """A proxy's settings from Docs/Web.md, for the page at a port."""
    with open(os.path.join(ROOT, "Docs", "Web.md"), encoding="utf-8") as file:
        found = re.search(rf"```{language}\n(.*?)```", file.read(), re.DOTALL)
    return found[1].replace("8642", str(page))


def proxy(daemon, name, page):
    """The proxy, and where it is."""
    port, = free_ports(1)
    frame, file = {"nginx": (NGINX, "nginx.conf"), "caddy": (CADDY, "Caddyfile")}[name]
    with open(f"{daemon.folder}/{file}", "w", encoding="utf-8") as settings:
        settings.write(frame.format(folder=daemon.folder, port=port, example=example(name, page)))
    arguments = {"nginx": ["-e", "stderr", "-c", f"{daemon.folder}/{file}"],
                 "caddy": ["run", "--config", f"{daemon.folder}/{file}", "--adapter", "caddyfile"]}[name]
    one = Program(name, [shutil.which(name, path=PROGRAMS), *arguments], daemon.folder, environment={"HOME": daemon.folder})
    one.start()
    return one, f"http://127.0.0.1:{port}"


def answers(url):
    """The status that an address gives."""
    try:
        return urllib.request.urlopen(url, timeout=10).status
    except urllib.error.HTTPError as error:
        return error.code


def kept(browser):
    """Names of the browser's caches, their files' addresses, and how many service workers there are."""
    return browser.driver.execute_async_script("""const done = arguments[0]; (async () => {
      const names = await caches.keys();
      const files = (await Promise.all(names.map(async (name) => (await (await caches.open(name)).keys()).map((r) => r.url)))).flat();
      done([names, files, (await navigator.serviceWorker.getRegistrations()).length]);
    })()""")


def works_behind(name, daemon, browser):
    """Stream, change, download, login and logout, all below /meters/ and nowhere else."""
    if shutil.which(name, path=PROGRAMS) is None:
        print(f"skipped: the page behind {name}, which is not installed (make web-test)")
        return
    told = daemon.json("web", "enable", "--listen", "127.0.0.1:0")
    one, url = proxy(daemon, name, told["listen"].rpartition(":")[2])
    try:
        wait(f"{name} answers", lambda: answers(f"{url}/meters/") == 200, retry=OSError)
        browser.watch()
        browser.requests = []
        browser.open(f"{url}/meters")
        wait("it asks for the token", lambda: "Token" in browser.text("form label"))
        browser.type("#token", told["token"])
        browser.click("form.login button")
        wait("four meters are live", lambda: browser.texts(".badge") == ["Live"] * 4)
        cookies = [(cookie["name"], cookie["path"]) for cookie in browser.driver.get_cookies()]
        if cookies != [("meterd_login", "/meters")]:
            raise Failure(f"the login's cookie is {cookies}")
        wait("the page is kept", lambda: len(kept(browser)[1]) > 40 and kept(browser)[2] == 1)
        if kept(browser)[0] != [f"page of {url}/meters/"]:
            raise Failure(f"the page is kept as {kept(browser)[0]}")
        before = browser.texts(".card .big b")
        wait("values move", lambda: browser.texts(".card .big b") != before)
        daemon.must("set", METER, f"name={name}")
        wait("news come through", lambda: name in browser.text(".card"))
        daemon.must("set", METER, "name=demo UM25C")
        browser.click("button[aria-label='Disconnect demo UM25C']")
        wait("a change is made", lambda: "Not connected" in browser.text(".card"))
        browser.click("button[aria-label='Connect demo UM25C']")
        browser.open(f"{url}/meters/{PATH.lstrip('/')}")
        wait("the chart is there", lambda: browser.js("return document.querySelector('.plot canvas')?.width > 0"))
        browser.js("[...document.querySelectorAll('.export a')][0].focus()")
        text = browser.driver.execute_async_script(
            "const done = arguments[0]; fetch(document.querySelector('.export a').href).then((r) => r.text()).then(done)")
        if not text.startswith("time,") or len(text.splitlines()) < 3:
            raise Failure(f"the download begins {text[:80]!r}")
        browser.click("#logout")
        wait("it asks again", lambda: "Token" in browser.text("form label"))
        if browser.driver.get_cookies():
            raise Failure("the login's cookie is still there")
        wait("nothing is kept any more", lambda: kept(browser) == [[], [], 0])
        browser.watch()
        outside = [one for one in browser.requests if one.startswith("http") and not one.startswith(f"{url}/meters")]
        if outside:
            raise Failure(f"requests left the path: {outside[:3]}")
    finally:
        browser.open("about:blank")
        one.kill()
        daemon.must("web", "disable")
        daemon.url = daemon.json("web", "url")["urls"][0].rstrip("/")


def works_behind_nginx(daemon, browser, _):
    """Under a path of nginx, as Docs/Web.md sets it up."""
    works_behind("nginx", daemon, browser)


def works_behind_caddy(daemon, browser, _):
    """Under a path of Caddy, as Docs/Web.md sets it up."""
    works_behind("caddy", daemon, browser)


# The address of Home Assistant's Supervisor, and the path that Home Assistant gives an app.
SUPERVISOR, INGRESS = "172.30.32.2", "/api/hassio_ingress/TheApp_1"


class HomeAssistant(http.server.BaseHTTPRequestHandler):
    """What Home Assistant and its Supervisor do with a request: a page with a frame, and below its address the app."""

    protocol_version = "HTTP/1.1"
    app = None

    def do_GET(self):  # pylint: disable=invalid-name - http.server calls it
        if not self.path.startswith(f"{INGRESS}/"):
            return self.send(200, [("Content-Type", "text/html")], [f"<title>Home</title><iframe src='{INGRESS}/'></iframe>".encode()])
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        connection = http.client.HTTPConnection("127.0.0.1", self.app, source_address=(SUPERVISOR, 0))
        try:
            headers = dict(self.headers) | {"X-Ingress-Path": INGRESS, "X-Remote-User-Name": "ann", "X-Forwarded-Proto": "http"}
            connection.request(self.command, self.path.removeprefix(INGRESS), body or None, headers)
            answer = connection.getresponse()
            kept = [one for one in answer.getheaders() if one[0].lower() not in ("transfer-encoding", "content-length", "connection")]
            self.send(answer.status, kept, iter(lambda: answer.read1(65536), b""))
        finally:
            connection.close()

    do_POST = do_PUT = do_PATCH = do_DELETE = do_GET

    def send(self, status, headers, pieces):
        """An answer that ends with its connection."""
        self.send_response(status)
        for one in (*headers, ("Connection", "close")):
            self.send_header(*one)
        self.end_headers()
        # Browsers leave streams.
        with contextlib.suppress(OSError):
            for piece in pieces:
                self.wfile.write(piece)

    def log_message(self, *_):  # pylint: disable=arguments-differ
        pass


def works_inside_home_assistant(daemon, browser, _):
    """In a frame of a Home Assistant that is played here: live, without a login, only to look at, and it says why."""
    try:
        urllib.request.urlopen(f"http://127.0.0.1:{daemon.ingress}/", timeout=10)
        raise Failure("somebody else than the Supervisor is answered")
    except OSError:
        pass
    added = subprocess.run(["ip", "address", "add", f"{SUPERVISOR}/32", "dev", "lo"], capture_output=True, text=True, check=False)
    if added.returncode != 0:
        print(f"skipped: Home Assistant's ingress, because this machine cannot have its address: {added.stderr.strip()}")
        return
    HomeAssistant.app = daemon.ingress
    home = http.server.ThreadingHTTPServer(("127.0.0.1", 0), HomeAssistant)
    home.daemon_threads = True
    threading.Thread(target=home.serve_forever, daemon=True).start()
    try:
        browser.open(f"http://127.0.0.1:{home.server_port}/lovelace")
        browser.driver.switch_to.frame(0)
        wait("four meters are live", lambda: browser.texts(".badge") == ["Live"] * 4)
        before = browser.texts(".card .big b")
        wait("values move", lambda: browser.texts(".card .big b") != before)
        if "ingress-changes = true" not in browser.text("#read-only"):
            raise Failure(f"it says {browser.text('#read-only')!r}")
        if browser.js("return [...document.querySelectorAll('.card button')].some((b) => b.textContent === 'Disconnect' && b.offsetParent)"):
            raise Failure("it offers what it refuses")
        status = browser.driver.execute_async_script(
            "const done = arguments[0]; fetch('v1/sync', { method: 'POST', body: '{}' }).then((r) => done(r.status))")
        if status != 403:
            raise Failure(f"a change is answered with {status}")
    finally:
        browser.driver.switch_to.default_content()
        browser.open("about:blank")
        home.shutdown()
        subprocess.run(["ip", "address", "delete", f"{SUPERVISOR}/32", "dev", "lo"], check=False)


def opens_without_meterd(daemon, browser, _):
    """Once seen, it opens without meterd, says what is missing, and has kept no reading; it can be installed."""
    other = Daemon(daemon.bin)
    try:
        other.start()
        browser.open(other.url + "/#/host")
        wait("it says how to install it", lambda: "menu can install it" in browser.text("main"))
        wait("the page is kept", lambda: len(kept(browser)[1]) > 40 and kept(browser)[2] == 1)
        browser.open("about:blank")
        browser.open(other.url + "/" + PATH.lstrip("/"))
        wait("the chart is there", lambda: browser.js("return document.querySelector('.plot canvas')?.width > 0"))
        wait("its worker answers", lambda: browser.js("return Boolean(navigator.serviceWorker.controller)"))
        odd = [url for url in kept(browser)[1] if "/v1/" in url or not url.startswith(other.url)]
        if odd:
            raise Failure(f"it keeps {odd}")
        errors = browser.driver.execute_cdp_cmd("Page.getInstallabilityErrors", {})["installabilityErrors"]
        # A browser without a profile installs nothing.
        errors = [one["errorId"] for one in errors if one["errorId"] != "in-incognito"]
        if errors:
            raise Failure(f"it cannot be installed: {errors}")
        other.kill()
        browser.open("about:blank")
        browser.open(other.url + "/" + PATH.lstrip("/"))
        wait("it says what is missing", lambda: "meterd does not answer" in browser.text("#loading"))
        if browser.texts(".card, .values, .plot"):
            raise Failure("it shows readings")
        browser.open("about:blank")
        browser.open(f"{daemon.url.replace('127.0.0.1', 'plain.test')}/#/host")
        wait("elsewhere it says why not", lambda: "It cannot be installed here, because" in browser.text("main"))
    finally:
        browser.open("about:blank")
        browser.watch()
        browser.requests = [url for url in browser.requests if "//plain.test:" not in url]
        other.kill()
        other.end()


CASES = [works_behind_nginx, works_behind_caddy, works_inside_home_assistant, opens_without_meterd]
ONCE = set(CASES)
# Logging out cuts the stream.
EXPECTED = {works_behind_nginx: ("status of 401", "net::ERR_"), works_behind_caddy: ("status of 401", "net::ERR_"), works_inside_home_assistant: ("status of 403",), opens_without_meterd: ("net::ERR_", "Failed to")}
