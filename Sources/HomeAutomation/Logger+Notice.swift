import Domain
import Logging

extension Logger {
    func log(_ notice: BridgeMachine.Notice) {
        switch notice {
        case .connected(let outage, let backlog, let dropped):
            var values: Metadata = ["backlog": "\(backlog)"]
            if let outage { values["outage"] = "\(outage.components.seconds) s" }
            if dropped > 0 { values["dropped"] = "\(dropped)" }
            info("broker connected", metadata: values)
        case .lost(let cause, let wait, let isNew):
            // The same trouble again is not news.
            var values: Metadata = ["cause": "\(cause.message)", "retry_ms": "\(wait.milliseconds)"]
            if let next = cause.next { values["next"] = "\(next)" }
            log(level: isNew ? .warning : .debug, "no broker", metadata: values)
        case .announced(let meter): info("meter announced", metadata: ["meter.id": "\(meter)"])
        case .removed(let meter): info("meter taken back", metadata: ["meter.id": "\(meter)"])
        case .yielded(let meter, let holder):
            info(
                "another host speaks for a meter",
                metadata: ["meter.id": "\(meter)", "holder": "\(holder ?? "unknown")"])
        case .homeAssistantStarted: debug("Home Assistant started: everything is told anew")
        case .requested(let meter, let request):
            info("request over the broker", metadata: ["meter.id": "\(meter)", "request": "\(request)"])
        case .requestRefused(let key, let cause):
            info("request over the broker refused", metadata: ["meter": "\(key)", "cause": "\(cause)"])
        case .requestsIgnored(let count):
            warning("too many requests over the broker", metadata: ["ignored": "\(count)"])
        case .publishRefused(let topic, let cause):
            warning("the broker does not take a message", metadata: ["topic": "\(topic)", "cause": "\(cause)"])
        case .backlogFull:
            warning("no room for more readings while there is no broker: the oldest are dropped")
        }
    }
}
