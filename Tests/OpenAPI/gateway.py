"""Fuzzes meterd --demo on both of its listeners, and looks whether it is well afterwards. Started by Tests/OpenAPI/meterd.

gateway.py METERD ST CASES [SEED]
"""

import asyncio
import http.client
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

import jsonschema_rs
import yaml

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "Support"))
import harness  # noqa: E402
from harness import METER, Demo, Failure, LocalConnection, print_logs  # noqa: E402

DOCUMENT = HERE.parents[1] / "Docs" / "meterd-openapi.yaml"
CONTRACT = yaml.safe_load(DOCUMENT.read_text())
# Answers that go on until the client leaves, and what a line of each is. They are looked at by themselves.
STREAMS = {
    "live": "LiveBody", "readings": "ReadingLine", "traffic": "TrafficLine", "syncEvents": "SyncEventLine",
    "refreshes": "RefreshLine"}
# It ends the membership, after which whatever has to do with a cloud is refused. It comes last, once.
LAST = ["leaveCloud"]
# They change which meters there are: attacked by themselves, once all four were seen to have data again.
ABOUT_IDS = ["forget", "alias", "unalias"]
# Half of it is much for a busy machine.
FUZZ_SECONDS_MAX = 300
# They need no login: a secret in the path takes its place.
OPEN = ["/v1/session", "/power/{secret}", "/profile/{secret}"]
findings = []


def finding(words):
    print(f"FINDING: {words}", flush=True)
    findings.append(words)


def operations(listener):
    for path, methods in CONTRACT["paths"].items():
        for method, operation in methods.items():
            if listener in operation["x-listeners"]:
                yield path, method.upper(), operation["operationId"]


class Forwarder(threading.Thread):
    """Passes bytes on from a port of loopback to the control socket: schemathesis speaks TCP only."""

    def __init__(self, path):
        super().__init__(daemon=True)
        self.path, self.port, self.ready = path, None, threading.Event()

    def run(self):
        asyncio.run(self.serve())

    async def serve(self):
        server = await asyncio.start_server(self.forward, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        self.ready.set()
        await server.serve_forever()

    async def forward(self, reader, writer):
        try:
            far_reader, far_writer = await asyncio.open_unix_connection(self.path)
        except OSError:
            writer.close()
            return
        await asyncio.gather(self.pump(reader, far_writer), self.pump(far_reader, writer))

    @staticmethod
    async def pump(reader, writer):
        try:
            while data := await reader.read(65536):
                writer.write(data)
                await writer.drain()
        except OSError:
            pass
        finally:
            writer.close()


def wait(what, condition, seconds):
    """What comes within so many seconds; a finding, and None, where nothing does."""
    try:
        return harness.wait(what, condition, seconds, retry=(Failure, OSError, http.client.HTTPException))
    except Failure as failure:
        finding(str(failure))
        return None


def filled(path):
    return re.sub(r"\{(\w+)\}", lambda name: urllib.parse.quote(METER if name[1] == "meter" else "none", safe=""), path)


def check_streams(meterd):
    """The first line of each stream that has one by itself, against its schema; the others are set off by a change."""
    print("== the streams that do not end", flush=True)
    for path, method, name in operations("socket"):
        if name not in STREAMS:
            continue
        connection = LocalConnection(meterd.socket, 30)
        try:
            connection.request(method, filled(path))
            answer = connection.getresponse()
            # Whoever listens for changes hears of this one.
            meterd.ask("PATCH", f"/v1/meters/{urllib.parse.quote(METER)}/settings", {"settings": {"notes": name}})
            line = answer.readline().decode()
            if line.startswith("event: "):
                line = answer.readline().decode().removeprefix("data: ")
            schema = {"$ref": f"#/components/schemas/{STREAMS[name]}", "components": CONTRACT["components"]}
            jsonschema_rs.validator_for(schema).validate(json.loads(line))
        except (OSError, ValueError, jsonschema_rs.ValidationError) as error:
            finding(f"{name}: {str(error)[:300]}")
        finally:
            connection.close()


def check_strangers(meterd, port, login):
    """What another site's page, another name and, once there is a login, nobody at all may do: nothing."""
    print(f"== nobody's requests to every route of the page, {'with' if login else 'without'} a login", flush=True)
    attempts = {
        "another name": ({"Host": "evil.example"}, 403), "another site": ({"Origin": "http://evil.example"}, 403),
        "another site's frame": ({"Sec-Fetch-Site": "cross-site"}, 403)}
    if login:
        attempts |= {"nobody": ({}, 401), "a wrong cookie": ({"Cookie": "meterd_login=x"}, 401)}
    calls = 0
    for path, method, name in operations("page"):
        for who, (headers, wanted) in attempts.items():
            if wanted == 401 and path in OPEN:
                continue
            status, text = meterd.ask(method, filled(path), headers=headers, port=port)
            calls += 1
            if status != wanted or (status != 200 and set(json.loads(text)) != {"code", "message", "next"}):
                finding(f"{who} asks for {method} {path} ({name}): {status} and not {wanted}: {text[:200]}")
    print(f"{calls} calls", flush=True)


def contract_of(listener, folder):
    """The document without what the listener does not have."""
    paths = {}
    for path, methods in CONTRACT["paths"].items():
        if own := {method: operation for method, operation in methods.items() if listener in operation["x-listeners"]}:
            paths[path] = own
    file = pathlib.Path(folder) / f"{listener}.json"
    file.write_text(json.dumps(CONTRACT | {"paths": paths}))
    return str(file)


def fuzz(st, folder, listener, url, cases, seed, headers=(), only=()):
    print(f"== schemathesis at the {listener}, at most {cases} cases per operation and phase", flush=True)
    arguments = [st, "--config-file", str(HERE / "meterd.toml"), "run", contract_of(listener, folder), "--url", url]
    for name in only:
        arguments += ["--include-operation-id", name]
    for name in [name for _, _, name in operations(listener) if name in (*STREAMS, *LAST, *ABOUT_IDS) and not only]:
        arguments += ["--exclude-operation-id", name]
    for header in headers:
        arguments += ["--header", header]
    arguments += ["--phases", "coverage,fuzzing", "--max-examples", str(cases), "--continue-on-failure",
                  "--max-failures", "20", "--request-timeout", "20", "--no-color"]
    arguments += ["--seed", seed] if seed else []
    began = time.monotonic()
    try:
        done = subprocess.run(
            arguments, capture_output=True, text=True, check=False, timeout=FUZZ_SECONDS_MAX, cwd=folder,
            env=dict(os.environ, SCHEMATHESIS_HOOKS="hooks", PYTHONPATH=str(HERE), PYTHONDONTWRITEBYTECODE="1"))
    except subprocess.TimeoutExpired as error:
        finding(f"schemathesis at the {listener} took longer than {FUZZ_SECONDS_MAX} s: {str(error.stdout)[-300:]}")
        return
    for line in done.stdout.splitlines():
        if re.match(r" *(\d+ generated|Tested:|Seed:|Operations:|Test cases:)", line):
            print(line.strip())
    print(f"{time.monotonic() - began:.0f} s", flush=True)
    if done.returncode:
        print("\n".join(line[:300] for line in (done.stdout + done.stderr).splitlines()[:250]))
        finding(f"schemathesis at the {listener} ended with a failure: " + "; ".join(
            line for line in done.stdout.splitlines() if re.match(r"^(_+ .* _+|- ST.*|- .*)$", line))[:600])


def check_afterwards(meterd, before):
    print("== meterd, after all that", flush=True)
    for meter in before:
        meterd.ask("POST", f"/v1/meters/{urllib.parse.quote(meter, safe='')}/connect", {})
    if wait("its four meters have data again", lambda: meterd.with_data() >= before, 60):
        print(f"{len(before)} meters have data")


def check_leaving(meterd):
    status, text = meterd.ask("DELETE", "/v1/cloud")
    if status != 200 or json.loads(text)["joined"]:
        finding(f"leaving the cloud: {status} {text[:200]}")


def check_end(meterd):
    try:
        meterd.stop(30, status=0)
        print("it stopped when asked to")
    except Failure as failure:
        finding(str(failure))
    for line in [line for line in meterd.log.splitlines() if re.search(r" (error|critical) |Fatal|crashed", line)][:5]:
        finding(f"its log: {line[:300]}")


def main():
    program, st, cases = sys.argv[1:4]
    seed = sys.argv[4] if len(sys.argv) > 4 else None
    with tempfile.TemporaryDirectory(prefix="meterd-fuzz-") as folder:
        meterd = Demo(os.path.dirname(program), folder)
        try:
            meterd.start()
            if wait("four meters with data", lambda: len(meterd.with_data()) == 4, 120):
                attack(meterd, st, folder, cases, seed)
                check_end(meterd)
        except Failure as failure:
            finding(str(failure))
        finally:
            meterd.kill()
            if findings:
                print_logs([meterd])
    for words in findings[:15]:
        print(f"FINDING: {words[:300]}")
    return 1 if findings else 0


def attack(meterd, st, folder, cases, seed):
    before = meterd.with_data()
    check_streams(meterd)
    check_strangers(meterd, meterd.page_port(), login=False)
    forwarder = Forwarder(meterd.socket)
    forwarder.start()
    forwarder.ready.wait(10)
    fuzz(st, folder, "socket", f"http://127.0.0.1:{forwarder.port}", cases, seed)
    status, text = meterd.ask("POST", "/v1/web", {"listen": "127.0.0.1:0"})
    if status == 200:
        token = json.loads(text)["token"]
        port = wait("the page listens", meterd.page_port, 20)
        check_strangers(meterd, port, login=True)
        fuzz(st, folder, "page", f"http://127.0.0.1:{port}", cases, seed, [f"Authorization: Bearer {token}"])
    else:
        finding(f"the page cannot be opened: {status} {text[:200]}")
    check_afterwards(meterd, before)
    fuzz(st, folder, "socket", f"http://127.0.0.1:{forwarder.port}", cases, seed, only=ABOUT_IDS)
    check_leaving(meterd)


if __name__ == "__main__":
    sys.exit(main())
