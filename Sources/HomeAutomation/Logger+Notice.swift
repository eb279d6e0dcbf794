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
            // Repeated failures with the same cause are logged only at debug level.
            var values: Metadata = ["cause": "\(cause.message)", "retry_ms": "\(wait.milliseconds)"]
            if let next = cause.next { values["next"] = "\(next)" }
            log(level: isNew ? .warning : .debug, "broker not connected", metadata: values)
        case .announced(let meter): info("meter announced", metadata: ["meter.id": "\(meter)"])
        case .removed(let meter): info("meter withdrawn", metadata: ["meter.id": "\(meter)"])
        case .yielded(let meter, let holder):
            info(
                "meter published by another host",
                metadata: ["meter.id": "\(meter)", "holder": "\(holder ?? "unknown")"])
        case .homeAssistantStarted: debug("Home Assistant started: all meters are announced again")
        case .requested(let meter, let request):
            info("broker request received", metadata: ["meter.id": "\(meter)", "request": "\(request)"])
        case .requestRefused(let key, let cause):
            info("broker request refused", metadata: ["meter": "\(key)", "cause": "\(cause)"])
        case .requestsIgnored(let count):
            warning("broker requests dropped: too many", metadata: ["ignored": "\(count)"])
        case .publishRefused(let topic, let cause):
            warning("broker refused a message", metadata: ["topic": "\(topic)", "cause": "\(cause)"])
        case .backlogFull:
            warning("backlog full: oldest readings dropped until the broker connects")
        }
    }
}
