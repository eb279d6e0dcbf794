"""What schemathesis must not do to a meterd on a machine where others work: wait long, and listen to the network."""

import schemathesis


@schemathesis.hook
def before_call(context, case, kwargs):
    body = case.body
    if not isinstance(body, dict):
        return
    operation = case.operation.definition.raw.get("operationId")
    if operation == "connect":
        for name in ("wait_ms", "queue_ms"):
            if isinstance(body.get(name), int) and body[name] > 500:
                body[name] = 500
    if operation == "openWeb" and not isinstance(body.get("listen"), (int, list, dict)):
        # Without it, or with an address that is one by chance, it would be open to the network.
        if body.get("listen") is None:
            body["listen"] = "127.0.0.1:0"
