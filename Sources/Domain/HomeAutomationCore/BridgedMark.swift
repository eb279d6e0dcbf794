/// A user's shared mark (a named moment or span), made or changed on this host.
package struct BridgedMark: Hashable, Sendable {
    package var id: String
    package var meter: MeterID
    package var name: String
    package var start: WallTime
    /// Equal to `start` for a moment; nil if the span has not ended.
    package var end: WallTime?

    package init(id: String, meter: MeterID, name: String, start: WallTime, end: WallTime?) {
        self.id = id
        self.meter = meter
        self.name = name
        self.start = start
        self.end = end
    }

    func message(_ topics: BrokerTopics) -> BrokerMessage {
        let payload = JSONValue.object([
            .init("id", .string(id)), .init("name", .string(name)), .init("from", .string(start.description)),
            .init("to", .text(end?.description)), .init("gateway", .string(topics.gateway)),
        ])
        return BrokerMessage(topics.mark(meter), payload.bytes)
    }
}
