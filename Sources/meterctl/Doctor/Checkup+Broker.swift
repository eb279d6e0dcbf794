import GatewayAPI

extension Checkup {
    static func broker(_ broker: BrokerStatus) -> [Finding] {
        guard broker.configured else { return [] }
        let url = broker.url ?? "?"
        let since = broker.since.map { " since \($0)" } ?? ""
        var all: [Finding] = []
        if broker.connected {
            let waiting = broker.queued == 0 ? "" : ", \(broker.queued) wait"
            all.append(
                Finding("broker", .ok, "\(url) is connected\(since), \(broker.published) messages published\(waiting)"))
        } else if let error = broker.error {
            all.append(
                Finding("broker", .problem, "\(url) is not connected\(since): \(error)", next: broker.next))
        } else {
            all.append(Finding("broker", .note, "\(url) is not connected yet", next: "run this again in a moment"))
        }
        return all + [refusal(broker), silence(broker), losses(broker)].compactMap { $0 }
    }

    private static func refusal(_ broker: BrokerStatus) -> Finding? {
        guard broker.refused_topics > 0 else { return nil }
        let topics = "\(broker.refused_topics) topic\(broker.refused_topics == 1 ? "" : "s")"
        return Finding(
            "broker", .problem, "it refuses messages on \(topics)",
            next: "the log of meterd names them; its user has to write below metergateway/ and homeassistant/")
    }

    private static func silence(_ broker: BrokerStatus) -> Finding? {
        guard broker.connected, !broker.hears_requests else { return nil }
        return Finding(
            "broker", .problem, "it refuses subscriptions: meterd hears no request and no start of Home Assistant",
            next: "let meterd's user read below metergateway/bridge/, and homeassistant/status")
    }

    private static func losses(_ broker: BrokerStatus) -> Finding? {
        if broker.dropped > 0 {
            let waiting = broker.backlog == 0 ? "" : ", \(broker.backlog) wait"
            return Finding(
                "broker", .note, "\(broker.dropped) messages were dropped since meterd started\(waiting)",
                next: "the outage was longer than the backlog in memory; meterd's store has the readings")
        }
        guard !broker.connected, broker.backlog > 0 else { return nil }
        return Finding("broker", .ok, "\(broker.backlog) readings wait for it, none is lost")
    }
}
