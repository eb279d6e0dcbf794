struct MeterMessages: Sendable {
    let settings: BridgeMachine.Settings
    private let discovery: DeviceDiscovery
    private var readings: UInt64 = 0
    private(set) var payloadsMade = 0

    init(_ settings: BridgeMachine.Settings) {
        self.settings = settings
        discovery = DeviceDiscovery(topics: settings.topics, version: settings.version, interval: settings.interval)
    }

    mutating func announcement(
        of meter: BridgedMeter, quantities: QuantitySet, told: [String: TelemetryKind]
    ) -> BrokerMessage {
        payloadsMade += 1
        return discovery.announcement(of: meter, quantities: quantities, told: told)
    }

    mutating func status(of meter: BridgedMeter) -> BrokerMessage {
        payloadsMade += 1
        return BrokerMessage(
            settings.topics.status(meter.id), MeterPayloads.Status(meter).bytes(gateway: settings.topics.gateway),
            isRetained: true)
    }

    func availability(of id: MeterID, isOnline: Bool) -> BrokerMessage {
        BrokerMessage(settings.topics.availability(id), Availability(isOnline).rawValue, isRetained: true)
    }

    mutating func payload(of reading: TimedReading, countedSince: WallTime?, told: TelemetryBody?) -> [UInt8] {
        payloadsMade += 1
        return MeterPayloads.state(reading, countedSince: countedSince, told: told)
    }

    func state(of id: MeterID, _ payload: [UInt8]) -> BrokerMessage {
        BrokerMessage(settings.topics.state(id), payload, isRetained: true)
    }

    /// Returns a backlog entry for a reading, in case it is not delivered in time.
    mutating func late(_ id: MeterID, _ payload: [UInt8]) -> Backlog.Entry {
        readings += 1
        return Backlog.Entry(number: readings, message: BrokerMessage(settings.topics.backlog(id), payload))
    }

    /// Returns empty retained messages, which clear the meter's topics.
    func removal(of id: MeterID) -> [BrokerMessage] {
        let topics = settings.topics
        return [discovery.removal(of: id)]
            + [topics.state(id), topics.status(id), topics.availability(id)].map {
                BrokerMessage($0, [], isRetained: true)
            }
    }
}
