"""Cases of a host that serves its own cloud."""

import socket

from cluster import METER, SOON, Cluster, Failure, wait
from harness import free_ports


def own_cloud(cluster: Cluster):
    """A host whose cloud's port is taken measures on, says who has it, and serves once it is free; it follows a change."""
    first, second = free_ports(2)

    def served_on(port):
        return f'[cloud]\nserve = true\nlisten = "127.0.0.1:{port}"\n'

    with socket.create_server(("127.0.0.1", first)):
        host = cluster.host("own", served_on(first))
        host.must("connect", cluster.meter(), "--model", "um25c", "--id", METER, "--timeout", f"{SOON}s")
        said = wait(f"{host.name} says why", lambda: host.json("cloud", "status")["unserved"], SOON)
        for word in (f"127.0.0.1:{first}", "in use", "by python3"):
            if word not in said:
                raise Failure(f"not in what it says, {word}: {said}")
        if (state := host.state(METER)) != "data-available":
            raise Failure(f"{METER} is {state} while the port is taken")
        if "cloud" not in (findings := host.ctl("doctor").out) or str(first) not in findings:
            raise Failure(f"doctor does not say it: {findings}")

    def member(port):
        status = host.json("cloud", "status")
        return status["connected"] and status["urls"] == [f"https://127.0.0.1:{port}"] and not status["unserved"]

    wait(f"{host.name} is a member of its own cloud", lambda: member(first), SOON)
    wait(f"{host.name} holds its meter", lambda: host.lease(METER).get("holder") == "own", SOON)
    token = host.lease(METER)["token"]
    host.stop()
    host.configuration = host.configuration.replace(str(first), str(second))
    host.start()
    wait(f"{host.name} follows its cloud", lambda: member(second), SOON)
    wait(f"{host.name} holds its meter again", lambda: host.lease(METER).get("holder") == "own", SOON)
    if (later := host.lease(METER)["token"]) < token:
        raise Failure(f"the token {later} came after {token}")
    return said


CASES = [own_cloud]
