"""Cases in which a cloud has two copies over one etcd."""

import http.client
import http.server
import itertools
import shutil
import ssl
import threading
import time
import urllib.parse

import relay
from cluster import METER, SOON, Cluster, Failure, seconds_until, seen, wait
from harness import readings, widest_gap

NO_ETCD = "skipped: etcd is not installed (apt-get install etcd-server)"


def second_copy(cluster, apart=False, proxy=False):
    """Two copies of a cloud over one etcd, and hosts that know both; apart: each asks another one; proxy: each request goes
    to another one. Returns the other copy and the hosts."""
    there = ["--engine", "etcd", "--etcd", cluster.etcd()]
    cluster.cloud.options_to_serve += there
    cluster.start_cloud()
    copy = cluster.copy(there)
    path = cluster.meter()
    hosts = [cluster.host(name) for name in ("attic", "bench")]
    for host in hosts:
        if proxy:
            url = Rotation(cluster, [cluster.cloud.url, copy.url]).url
            host.must("cloud", "join", url, "--token-file", cluster.token_file, "--pin", cluster.cloud.pin)
        else:
            host.join(copy.url, is_last=apart and host is hosts[1])
        host.must("connect", path, "--model", "um25c", "--id", METER, "--detach")
        host.must("disconnect", METER)
    return copy, hosts


class Rotation:
    """A proxy with the cloud's certificate that sends each request to another copy than the one before."""

    def __init__(self, cluster, urls):
        folder = f"{cluster.folder}/cloud"
        turns = itertools.cycle([urllib.parse.urlsplit(url) for url in urls])
        trust = ssl._create_unverified_context()  # pylint: disable=protected-access - the hosts compare the pin
        lock = threading.Lock()

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def pass_on(self):
                with lock:
                    copy = next(turns)
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                # An event stream is silent for 15 s at most.
                connection = http.client.HTTPSConnection(copy.hostname, copy.port, timeout=40, context=trust)
                try:
                    headers = {k: v for k, v in self.headers.items() if k.lower() not in ("host", "content-length")}
                    connection.request(self.command, self.path, body or None, headers)
                    self.answer(connection.getresponse())
                except OSError:
                    self.close_connection = True
                finally:
                    connection.close()

            def answer(self, answer):
                self.send_response(answer.status)
                kind = answer.getheader("Content-Type", "")
                self.send_header("Content-Type", kind)
                if not kind.startswith("text/event-stream"):
                    text = answer.read()
                    self.send_header("Content-Length", str(len(text)))
                    self.end_headers()
                    self.wfile.write(text)
                    return
                self.send_header("Connection", "close")
                self.end_headers()
                while piece := answer.read1(65536):
                    self.wfile.write(piece)
                    self.wfile.flush()
                self.close_connection = True

            do_GET = do_POST = do_PUT = do_DELETE = pass_on

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(f"{folder}/certificate.pem", f"{folder}/key.pem")
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.url = f"https://127.0.0.1:{server.server_address[1]}"


def copy_leaves(cluster, leave):
    """One of two copies goes, and a person takes a meter over at once."""
    if shutil.which("etcd") is None:
        return NO_ETCD
    _, (a, b) = second_copy(cluster)
    a.must("connect", METER)
    token = wait(f"{a.name} sees its lease", lambda: a.lease(METER).get("token"), SOON)
    wait(f"{b.name} sees it too", lambda: b.lease(METER).get("holder") == "attic", SOON)
    leave(cluster.cloud)
    began = time.monotonic()
    wait(f"{b.name} may take it over", lambda: b.ctl("connect", METER, "--takeover").status == 0, SOON)
    took = time.monotonic() - began
    told = seconds_until(f"{a.name} sees who has it", lambda: a.lease(METER).get("holder") == "bench", SOON)
    if (new := b.lease(METER).get("token")) <= token:
        raise Failure(f"the token was {token}, and now {new}")
    b.must("set", METER, "name=through the other copy")
    seen(a, "name", "through the other copy")
    return f"taken over {took:.1f} s after it, which the other host was told {told:.1f} s later"


def copy_killed(cluster: Cluster):
    """One of two copies is killed: the other goes on with its hosts."""
    return copy_leaves(cluster, lambda copy: copy.kill())


def copy_stopped(cluster: Cluster):
    """One of two copies is stopped: it hands its hosts over."""
    return copy_leaves(cluster, lambda copy: copy.stop())


def used_from_afar(a, b):
    """A meter that the one host has is seen, commanded and recorded from the other, which finds that in its log."""
    a.must("connect", METER)
    relay.sees(b, "attic")
    b.must("command", METER, "screen-timeout", "1")
    wait("the meter was told at its holder", lambda: "command executed" in a.log and "command sent" in a.log)
    begun = b.json("record", "start", METER, "--name", "through both copies")
    if begun["host"] != "attic":
        raise Failure(f"the recording is {begun}")
    time.sleep(2)
    ended = b.json("record", "stop", METER)
    if ended["id"] != begun["id"] or ended["readings"] == 0:
        raise Failure(f"the recording ended as {ended}")
    relay.logged(b, "held", "attic")
    relay.logged(b, "command", "attic", what="screen-timeout 1", by="bench", detail="sent")
    if (silent := b.json("log", METER)["silent"]):
        raise Failure(f"{silent} did not answer for the log")


def watched_between_copies(cluster: Cluster):
    """Two hosts at two copies: a meter is seen, commanded and recorded from the other one, and seen on after one copy was
    killed."""
    if shutil.which("etcd") is None:
        return NO_ETCD
    _, (a, b) = second_copy(cluster, apart=True)
    used_from_afar(a, b)
    watching = b.begin("watch", METER, "--json")
    time.sleep(3)
    # To which the holder listens.
    cluster.cloud.kill()
    time.sleep(12)
    said = [line["time"] for line in readings(watching.interrupt().out)]
    if len(said) < 10:
        raise Failure(f"{len(said)} readings were seen")
    gap = widest_gap(said)
    if gap > 10:
        raise Failure(f"nothing was seen for {gap:.1f} s")
    return f"{len(said)} readings, {gap:.1f} s without one"


def each_request_to_another_copy(cluster: Cluster):
    """Behind a proxy that sends each request to another copy: a meter is seen, commanded and recorded from afar."""
    if shutil.which("etcd") is None:
        return NO_ETCD
    _, (a, b) = second_copy(cluster, proxy=True)
    used_from_afar(a, b)
    watching = b.begin("watch", METER, "--json")
    time.sleep(5)
    said = readings(watching.interrupt().out)
    times = [line["time"] for line in said]
    if len(said) < 5 or times != sorted(times):
        raise Failure(f"readings of {times} were seen")
    return f"{len(said)} readings in {5} s"


CASES = [copy_killed, copy_stopped, watched_between_copies, each_request_to_another_copy]
