"""The two servers, as Debian has them, and what is in them."""

import datetime
import functools
import json
import math
import os
import urllib.error
import urllib.parse
import urllib.request

import harness
from harness import ROOT, Failure, Program, expect, free_ports

EXAMPLES = os.path.join(ROOT, "Docs", "Examples")
wait = functools.partial(harness.wait, seconds=60)


def milliseconds(text):
    """Of a time such as 2026-11-21T13:40:05.250Z."""
    moment = datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))
    return round(moment.timestamp() * 1000)


def is_near(one, other, relative):
    return math.isclose(one, other, rel_tol=relative, abs_tol=relative)


def fetch(url, data=None):
    with urllib.request.urlopen(url, data, timeout=10) as answer:
        return answer.read().decode()


def panels(name):
    """The expressions of an example dashboard."""
    with open(os.path.join(EXAMPLES, name), encoding="utf-8") as file:
        return [target.get("expr") or target["query"] for panel in json.load(file)["panels"]
                for target in panel["targets"]]


class Server(Program):
    """A server in a folder, on a port of its own."""

    has_users = False
    # In [influx].
    place = 'database = "home"\nuser = "meterd"'
    # Of nobody where there are no users: it must be nowhere all the same.
    password = "correct-horse-battery"

    def __init__(self, name, folder):
        self.folder = folder
        self.port = free_ports(1)[0]
        self.url = f"http://127.0.0.1:{self.port}"
        super().__init__(name, self.command(), folder)

    def start(self):
        """Until it answers."""
        super().start()
        wait(f"{self.name} answers", self.is_ready)

    def answers(self, path):
        try:
            fetch(self.url + path)
            return True
        except OSError:
            return False

    def check_obstacle(self, bench):
        """What this server does not take, and what meterd makes of it."""
        raise NotImplementedError

    def judge(self, name, found):
        """What a dashboard shows."""
        expect(f"{name} would be all but empty: {found}", sum(found) >= len(found) - 1)


class VictoriaMetrics(Server):
    """It has no users: whatever is shown to it, it takes. It is written to as InfluxDB 2 is, and in the end as InfluxDB 1."""

    place = 'bucket = "home"\norg = "home"'

    def __init__(self, folder):
        super().__init__("victoria-metrics", folder)

    def command(self):
        return ["victoria-metrics", f"-storageDataPath={self.folder}/data", f"-httpListenAddr=127.0.0.1:{self.port}"]

    def is_ready(self):
        return self.answers("/health")

    def prepare(self):
        """Nothing: it takes any database."""

    def check_obstacle(self, bench):
        """An address that it does not know is answered with 400 and the address, which may be a secret. Where it is written
        to in another way, it gets all that is stored once more."""
        bench.send_to(f"{self.url}/s3cr3t", self.place)
        status = wait("a wrong address is refused", lambda: bench.status["error"] and bench.status)
        expect(f"{status}", "400" in status["error"] and "unsupported path" in status["error"])
        expect("the address is repeated", "s3cr3t" not in json.dumps(status) + bench.meterd.log)
        bench.send_to(self.url, 'database = "home"')
        wait("all of it is in the database, too", lambda: bench.stored_count <= len(
            {moment for one in self.series(bench.id) if one["metric"].get("db") == "home"
             for moment in one["timestamps"]}))
        return f"a wrong address: {status['error']}; the right one gets all that is stored"

    def series(self, meter):
        """Each with its labels, times and values."""
        # What came lately is shown once it is flushed.
        fetch(f"{self.url}/internal/force_flush")
        match = urllib.parse.urlencode({"match[]": f'{{__name__=~"meter_.+",id="{meter}"}}'})
        return [json.loads(line) for line in fetch(f"{self.url}/api/v1/export?{match}").splitlines()]

    def points(self, meter):
        found = {}
        for one in self.series(meter):
            key = one["metric"]["__name__"].removeprefix("meter_")
            found |= {(moment, key): value for moment, value in zip(one["timestamps"], one["values"])}
        return found

    def tags(self, meter):
        found = {}
        for one in self.series(meter):
            for key, value in one["metric"].items():
                found.setdefault(key, set()).add(value)
        return found

    def check_dashboard(self):
        name, found = "grafana-victoriametrics-dashboard.json", []
        for expression in panels(name):
            asked = urllib.parse.urlencode({"query": expression.replace("$meter", ".*") + "[1h]"})
            found.append(bool(json.loads(fetch(f"{self.url}/api/v1/query?{asked}"))["data"]["result"]))
        self.judge(name, found)


class InfluxDB(Server):
    """With users: an administrator, and one that may write to the database."""

    has_users = True

    def __init__(self, folder):
        super().__init__("influxdb", folder)

    def command(self):
        path = f"{self.folder}/influxdb.conf"
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"""reporting-disabled = true
bind-address = "127.0.0.1:{free_ports(1)[0]}"
[meta]
dir = "{self.folder}/meta"
[data]
dir = "{self.folder}/data"
wal-dir = "{self.folder}/wal"
[monitor]
store-enabled = false
[http]
bind-address = "127.0.0.1:{self.port}"
auth-enabled = true
[ifql]
enabled = false
""")
        return ["influxd", "run", "-config", path]

    def is_ready(self):
        return self.answers("/ping")

    def prepare(self):
        self.ask("CREATE USER admin WITH PASSWORD 'admin' WITH ALL PRIVILEGES", as_admin=False)
        self.ask("CREATE DATABASE home")
        self.ask(f"CREATE USER meterd WITH PASSWORD '{self.password}'")
        self.ask("GRANT WRITE ON home TO meterd")

    def ask(self, query, as_admin=True):
        """Its series."""
        where = {"db": "home", "epoch": "ms"} | ({"u": "admin", "p": "admin"} if as_admin else {})
        body = urllib.parse.urlencode({"q": query}).encode()
        try:
            result = json.loads(fetch(f"{self.url}/query?{urllib.parse.urlencode(where)}", body))["results"][0]
        except urllib.error.HTTPError as error:
            raise Failure(f"{query}: {error.read().decode()}") from error
        if "error" in result:
            raise Failure(f"{query}: {result['error']}")
        return result.get("series", [])

    def check_obstacle(self, bench):
        """A field that is of another type there: the points of it are skipped and counted, and said once."""
        self.ask("CREATE DATABASE other")
        self.ask("GRANT WRITE ON other TO meterd")
        bench.write(f"{self.url}/write?db=other&u=admin&p=admin", 'meter power_W="much"')
        bench.send_to(self.url, self.place.replace("home", "other"))
        status = wait("points are rejected", lambda: bench.status["rejected"] and bench.status)
        expect(f"{status}", "field type conflict" in status["rejection"] and status["error"] is None)
        expect("another database does not begin anew", status["rejected"] + status["sent"] >= bench.stored_count)
        said = bench.meterd.log.count("points rejected by InfluxDB")
        expect(f"it is {said} times in the log", said == 1)
        expect("doctor has no word of it", "were rejected" in bench.doctor("were rejected"))
        return f"{status['rejected']} points that are not wanted: {status['rejection']}"

    def points(self, meter):
        found, where = {}, f"WHERE id = '{meter}'"
        for one in self.ask(f"SELECT * FROM meter {where}"):
            for row in one["values"]:
                reading = dict(zip(one["columns"], row))
                moment = reading.pop("time")
                found |= {(moment, key): value for key, value in reading.items() if isinstance(value, (int, float))}
        return found

    def tags(self, meter):
        found = {}
        for key in ("host", "id", "model", "name"):
            for one in self.ask(f"SHOW TAG VALUES FROM meter WITH KEY = \"{key}\" WHERE id = '{meter}'"):
                found[key] = {value for _, value in one["values"]}
        return found

    def check_dashboard(self):
        name, found = "grafana-influx-dashboard.json", []
        for query in panels(name):
            for variable, value in (
                ("/^$meter$/", "/.*/"), ("$timeFilter", "time > now() - 1h"), ("$__interval", "10s"),
            ):
                expect(f"{query} has no {variable}", variable in query)
                query = query.replace(variable, value)
            found.append(bool(self.ask(query)))
        self.judge(name, found)


ALL = {"victoria-metrics": VictoriaMetrics, "influxdb": InfluxDB}
