/// Announces a meter and its entities to Home Assistant, in one retained message for the device.
///
/// Format: <https://www.home-assistant.io/integrations/mqtt/#device-discovery-payload>.
package struct DeviceDiscovery: Hashable, Sendable {
    let topics: BrokerTopics
    let version: String
    let interval: Duration

    package init(topics: BrokerTopics, version: String, interval: Duration) {
        self.topics = topics
        self.version = version
        self.interval = interval
    }

    /// Inputs of an announcement, which is encoded again only if they change.
    struct Facts: Hashable, Sendable {
        private var names: [String?]
        private var abilities: [BridgedMeter.Ability]
        private var quantities: QuantitySet
        private var told: [String: TelemetryKind]

        init(_ meter: BridgedMeter, _ quantities: QuantitySet, _ told: [String: TelemetryKind]) {
            self.told = told
            names = [meter.name, meter.model, meter.serial, meter.firmware, meter.hardware]
            abilities = meter.abilities
            self.quantities = quantities
        }
    }

    /// - Parameters:
    ///   - quantities: all quantities received from the meter so far.
    ///   - told: all other telemetry received from the meter so far.
    package func announcement(
        of meter: BridgedMeter, quantities: QuantitySet, told: [String: TelemetryKind] = [:]
    ) -> BrokerMessage {
        BrokerMessage(topics.discovery(meter.id), payload(of: meter, quantities, told).bytes, isRetained: true)
    }

    package func removal(of meter: MeterID) -> BrokerMessage {
        BrokerMessage(topics.discovery(meter), [], isRetained: true)
    }

    private func payload(
        of meter: BridgedMeter, _ quantities: QuantitySet, _ told: [String: TelemetryKind]
    ) -> JSONValue {
        // A value expires after three missed readings, plus a minute for a busy broker.
        let maker = EntityMaker(
            meter: meter, topics: topics, expiresAfter: Int(interval.components.seconds) * 3 + 60)
        var entities: [JSONValue.Member] = []
        quantities.forEach { entities.append(maker.sensor($0)) }
        for (key, kind) in told.sorted(by: { $0.key < $1.key }) { entities.append(maker.sensor(told: key, kind)) }
        entities += [maker.status, maker.connection]
        entities += meter.abilities.compactMap { maker.command($0) }
        return .members([
            ("device", device(meter)),
            (
                "origin",
                .members([
                    ("name", .string("MeterGateway")), ("sw_version", .string(version)),
                ])
            ),
            ("components", .object(entities)),
            ("command_topic", .string(topics.request(meter.id))),
            ("availability", EntityMaker.availability([topics.bridge, topics.availability(meter.id)])),
            ("availability_mode", .string("all")),
            ("qos", .int(1)),
        ])
    }

    private func device(_ meter: BridgedMeter) -> JSONValue {
        var connections: JSONValue?
        if case .mac(let address) = meter.id {
            // Bluetooth integrations register devices with the type `bluetooth`, so a meter that they list becomes the
            // same device.
            connections = .array(
                ["mac", "bluetooth"].map { .array([.string($0), .string(address.description)]) })
        }
        return .members([
            ("identifiers", .array([.string(meter.id.homeAssistantID)])),
            ("connections", connections),
            ("name", .string(meter.name ?? meter.model.map { "\($0) \(meter.id)" } ?? "\(meter.id)")),
            ("model", meter.model.map { .string($0) }),
            ("serial_number", meter.serial.map { .string($0) }),
            ("sw_version", meter.firmware.map { .string($0) }),
            ("hw_version", meter.hardware.map { .string($0) }),
        ])
    }
}
