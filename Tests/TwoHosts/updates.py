"""Cases in which programs of an earlier version are updated one by one: each works with the others all the while, and
nothing is lost. They need those programs (`--other`)."""

from cluster import METER, SOON, Cluster, Failure, joined, seen, told, wait


def both_ways(a, b, what):
    """A setting of each reaches the other, the one that is made while its network is gone too."""
    a.must("set", METER, f"name=of a, {what}")
    b.proxy.cut()
    b.must("set", METER, f"notes=of b, {what}")
    b.proxy.heal()
    b.ctl("sync", "now")
    seen(a, "notes", f"of b, {what}")
    seen(b, "name", f"of a, {what}")
    for host in (a, b):
        told(host)
        if parked := host.json("sync", "status")["parked"]:
            raise Failure(f"{host.name} has {parked} parked records, {what}")


def handed(winner, loser, token, what):
    """A meter that one host lets go goes to the other, with a greater token. Returns that."""
    loser.must("disconnect", METER)
    winner.must("connect", METER)
    return has(winner, loser, token, what)


def taken(winner, loser, token, what):
    """The same by force: both and the cloud are of one version."""
    winner.must("connect", METER, "--takeover")
    return has(winner, loser, token, what)


def refused(winner, loser, what):
    """A host and a cloud of two versions do not know each other's take-overs: who has it keeps it, and is named."""
    said = winner.ctl("connect", METER, "--takeover", "--timeout", "3s")
    if said.status not in (4, 5) or loser.name not in said.err:
        raise Failure(f"a take-over, {what}: {said.status}: {said.err}")
    if loser.state(METER) != "data-available":
        raise Failure(f"{loser.name} lost it, {what}")
    winner.must("disconnect", METER)


def has(winner, loser, token, what):
    wait(f"{winner.name} has data, {what}", lambda: winner.state(METER) == "data-available", SOON)
    wait(f"{loser.name} sees who has it, {what}", lambda: loser.lease(METER).get("holder") == winner.name, SOON)
    if (new := winner.lease(METER)["token"]) <= token:
        raise Failure(f"{what}: the token was {token}, and is {new}")
    return new


def begun(cluster):
    """The first host has the meter. Returns both hosts and its token."""
    a, b = joined(cluster, ports_apart=True)
    a.must("connect", METER)
    wait(f"{a.name} has data", lambda: a.state(METER) == "data-available", SOON)
    both_ways(a, b, "before")
    return a, b, a.lease(METER)["token"]


def updated(a, b, token):
    """All are new: settings and take-overs work, and what was overwritten before is still in the history."""
    both_ways(a, b, "all new")
    taken(b, a, token, "all new")
    for host in (a, b):
        if "of b, before" not in (history := host.must("history", METER, "notes").out):
            raise Failure(f"{host.name} has lost its history: {history}")


def cloud_updated_first(cluster: Cluster):
    """The cloud is updated, then one host, then the other."""
    a, b, token = begun(cluster)
    cluster.update_cloud()
    wait(f"{a.name} still has it", lambda: a.lease(METER).get("holder") == "attic", SOON)
    if a.lease(METER)["token"] != token:
        raise Failure("its holder has another token after the update of the cloud")
    both_ways(a, b, "under a new cloud")
    refused(b, a, "under a new cloud")
    token = handed(b, a, token, "under a new cloud")
    a.update()
    both_ways(a, b, "one host new")
    token = taken(a, b, token, "one host new")
    b.update()
    updated(a, b, token)


def hosts_updated_first(cluster: Cluster):
    """One host is updated, then the other, then the cloud."""
    a, b, token = begun(cluster)
    b.update()
    both_ways(a, b, "one host new")
    refused(b, a, "old cloud")
    token = handed(b, a, token, "one host new")
    a.update()
    both_ways(a, b, "old cloud")
    token = handed(a, b, token, "old cloud")
    cluster.update_cloud()
    updated(a, b, token)


CASES = [cloud_updated_first, hosts_updated_first]
