"""Joins a host, and checks that a token sees its own zone only.

zones.py join URL CERTIFICATE TOKEN-FILE ZONE      prints the host's own token
zones.py listen URL CERTIFICATE HOME               prints the host's events until it is killed
zones.py check URL CERTIFICATE HOME OTHER          the files with the tokens of one host of each zone
"""

import http.client
import json
import pathlib
import ssl
import sys
import urllib.parse
import uuid

import yaml

DOCUMENT = pathlib.Path(__file__).resolve().parents[2] / "Docs" / "openapi.yaml"
METER = "02:00:00:00:25:0C"


class Cloud:
    def __init__(self, url, certificate):
        self.address = urllib.parse.urlparse(url)
        self.trust = ssl.create_default_context(cafile=certificate)

    def call(self, method, path, token=None, body=None, first_bytes=None):
        """Status and text; only the first bytes of an answer that never ends."""
        connection = http.client.HTTPSConnection(
            self.address.hostname, self.address.port, timeout=30, context=self.trust)
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        if body is not None:
            body = json.dumps(body)
            headers["Content-Type"] = "application/json"
        try:
            connection.request(method, path, body, headers)
            response = connection.getresponse()
            endless = response.getheader("Content-Type", "").startswith("text/event-stream")
            text = response.read1(first_bytes or 4096) if endless else response.read()
            return response.status, text.decode()
        finally:
            connection.close()


def stamp(host):
    return f"1700000000000.0.{host}"


def body(operation):
    """A request that is good in every other respect, so that the zone alone is wrong with it."""
    some = str(uuid.uuid4())
    return {
        "modifyRecords": {"records": [{
            "type": "Host", "name": "intruder",
            "properties": {"p": {"value": {"string": "intruder"}, "stamp": stamp(some)}}}]},
        "renewLeases": {"session": some, "leases": [{"meter": METER, "token": 1}]},
        "acquireLease": {"requestID": some, "session": some, "transport": "usb", "takeover": {"token": 1}, "tokenFloor": 1},
        "relayReadings": {"session": some, "token": 1, "number": 1, "missed": 0, "readings": []},
        "commandMeter": {"requestID": some, "token": 1, "action": {"kind": "stopRecording"}},
        "claimCommand": {"session": some, "token": 1},
        "answerCommand": {"token": 1, "answer": {"outcome": "done"}},
        "answerLog": {"lines": []},
        "releaseLease": {"session": some, "token": 1},
        "join": {"hostID": some, "hostName": "intruder", "machine": "intruder"},
    }.get(operation)


def operations():
    for path, methods in yaml.safe_load(DOCUMENT.read_text())["paths"].items():
        for method, operation in methods.items():
            yield path, method.upper(), operation["operationId"], operation.get("security") != []


def filled(path, zone):
    query = "?type=Host" if path.endswith("/changes") else ""
    path = path.replace("{zone}", zone).replace("{meter}", urllib.parse.quote(METER, safe=""))
    return path.replace("{request}", str(uuid.uuid4())) + query


def join(cloud, token_file, zone):
    token = pathlib.Path(token_file).read_text().strip()
    host = str(uuid.uuid4())
    status, text = cloud.call("POST", "/v1/hosts", token, {
        "hostID": host, "hostName": f"host-of-{zone}", "machine": f"machine-of-{zone}"})
    assert status == 200, (status, text)
    own = json.loads(text)["token"]
    # What nobody else may ever see.
    record = {"type": "Host", "name": f"secret-of-{zone}", "properties": {
        "p": {"value": {"string": f"secret-of-{zone}"}, "stamp": stamp(host)}}}
    status, text = cloud.call("POST", f"/v1/zones/{zone}/records/modify", own, {"records": [record]})
    assert status == 200 and "error" not in text, (status, text)
    print(own)


def listen(cloud, token_file):
    token = pathlib.Path(token_file).read_text().strip()
    connection = http.client.HTTPSConnection(cloud.address.hostname, cloud.address.port, context=cloud.trust)
    connection.request("GET", "/v1/zones/home/events", headers={"Authorization": f"Bearer {token}"})
    response = connection.getresponse()
    while text := response.read1(65536):
        print(text.decode(errors="replace"), end="", flush=True)


def check(cloud, tokens):
    findings = []

    def expect(what, answer, wanted, foreign):
        status, text = answer
        if status != wanted:
            findings.append(f"{what}: {status} and not {wanted}: {text[:300]}")
        for word in (f"secret-of-{foreign}", f"host-of-{foreign}", f"machine-of-{foreign}"):
            if word in text:
                findings.append(f"{what}: the answer has {word}")

    calls = 0
    for path, method, operation, needs_token in operations():
        for own, foreign in (("home", "other"), ("other", "home")):
            if "{zone}" in path:
                answer = cloud.call(method, filled(path, foreign), tokens[own], body(operation))
                expect(f"{method} {path} of {foreign} by {own}", answer, 403, foreign)
                calls += 1
            if needs_token:
                for token in (None, "mgt_unknown", "x"):
                    answer = cloud.call(method, filled(path, foreign), token, body(operation))
                    expect(f"{method} {path} of {foreign} by nobody", answer, 401, foreign)
                    calls += 1
    for own, foreign in (("home", "other"), ("other", "home")):
        for path in ("/v1/account", f"/v1/zones/{own}/leases", f"/v1/zones/{own}/changes?type=Host"):
            answer = cloud.call("GET", path, tokens[own])
            expect(f"GET {path}", answer, 200, foreign)
            if "intruder" in answer[1]:
                findings.append(f"GET {path}: an intruder's record is in the zone")
            calls += 1
        answer = cloud.call("GET", f"/v1/zones/{own}/events", tokens[own])
        expect("events", answer, 200, foreign)
        if "event: ping" not in answer[1]:
            findings.append(f"the events of {own} do not begin with a ping: {answer[1]}")
        calls += 1
        answer = cloud.call("GET", f"/v1/zones/{own}/meters/{urllib.parse.quote(METER, safe='')}/readings", tokens[own])
        expect("readings", answer, 200, foreign)
        if "event: holder" not in answer[1]:
            findings.append(f"what is watched in {own} does not begin with its holder: {answer[1]}")
        calls += 1
    for finding in findings:
        print(f"FINDING: {finding}")
    print(f"{calls} calls, {len(findings)} findings")
    return 1 if findings else 0


def main():
    cloud = Cloud(sys.argv[2], sys.argv[3])
    if sys.argv[1] == "join":
        join(cloud, sys.argv[4], sys.argv[5])
        return 0
    if sys.argv[1] == "listen":
        listen(cloud, sys.argv[4])
        return 0
    tokens = {zone: pathlib.Path(file).read_text().strip() for zone, file in zip(("home", "other"), sys.argv[4:6])}
    return check(cloud, tokens)


if __name__ == "__main__":
    sys.exit(main())
