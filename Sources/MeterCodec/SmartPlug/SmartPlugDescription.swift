package import Domain

/// A meter behind an MQTT broker: its topics, and the positions of the quantities in their messages.
package struct SmartPlugDescription: Hashable, Sendable {
    /// Topic and JSON path of a quantity.
    package struct Value: Hashable, Sendable {
        package var quantity: Quantity
        package var topic: String
        /// Names of members and indices of elements in the message's JSON, outermost first; empty if the whole message
        /// is the number.
        package var path: [String]
        package var unit: ScaledUnit

        package init(_ quantity: Quantity, topic: String, path: [String], unit: ScaledUnit = ScaledUnit()) {
            (self.quantity, self.topic, self.path, self.unit) = (quantity, topic, path, unit)
        }
    }

    /// Topic whose messages show whether the meter is connected to the broker. They are usually retained; `offline` is
    /// the meter's last will.
    package struct Availability: Hashable, Sendable {
        package var topic: String
        package var online: String
        package var offline: String

        package init(topic: String, online: String = "online", offline: String = "offline") {
            (self.topic, self.online, self.offline) = (topic, online, offline)
        }
    }

    package var model: ModelName
    /// Unique name among the meters of a host: the device's topic, and the channel or component if it has several.
    package var key: String
    package var values: [Value]
    package var availability: Availability?
    /// Message that makes the meter publish; nil for a meter that only publishes by itself.
    package var request: BrokerMessage?
    /// JSON path of the measurement's time in each message; nil if messages contain no usable time.
    package var timePath: [String]?
    /// Maximum age of a value in a reading.
    package var maxAge: Duration
    /// Advice for a meter that is online but publishes no measurement; nil for none.
    package var silenceRemedy: String?

    package static let maxAgeDefault = Duration.seconds(150)

    /// Creates the description of a publisher without a preset.
    package init(key: String, values: [Value], maxAge: Duration = maxAgeDefault) {
        self.init(.mqttMeter, key: key, values: values, maxAge: maxAge)
    }

    init(_ model: ModelName, key: String, values: [Value], maxAge: Duration = maxAgeDefault) {
        (self.model, self.key, self.values, self.maxAge) = (model, key, values, maxAge)
    }

    /// Topics to subscribe to, each once.
    package var topics: [String] {
        var topics: [String] = []
        for topic in values.map(\.topic) + [availability?.topic].compactMap({ $0 }) where !topics.contains(topic) {
            topics.append(topic)
        }
        return topics
    }

    package var link: LinkAddress { .network(host: Self.linkPrefix + key) }

    /// Host prefix that distinguishes links to these meters from links to boards in the network.
    package static let linkPrefix = "mqtt:"
}

/// Devices whose topics and messages are known.
package enum SmartPlugPreset: String, CaseIterable, Sendable {
    case tasmotaTelemetry = "tasmota"
    case shellyStatus = "shelly"
    case shellyFirst = "shelly-gen1"

    /// Describes a device.
    ///
    /// - Parameters:
    ///   - topic: Tasmota's topic, or its full topic with `%prefix%`; a Shelly's MQTT prefix.
    ///   - channel: number of the phase or relay, from 0; nil for a device with one.
    ///   - component: component of a Shelly since generation 2, such as `switch:0`, `pm1:0` or `em:0`.
    ///   - isPolled: whether meterd asks for each reading, which only Tasmota answers.
    /// - Returns: nil if the device has no such component.
    package func description(
        _ topic: String, channel: Int? = nil, component: String = "switch:0", isPolled: Bool = false
    ) -> SmartPlugDescription? {
        switch self {
        case .tasmotaTelemetry: Self.tasmota(topic, channel, isPolled)
        case .shellyStatus: Self.shelly(topic, component)
        case .shellyFirst: Self.firstShelly(topic, channel ?? 0)
        }
    }

    /// Topics: tasmota.github.io/docs/MQTT. Messages: arendst/Tasmota xdrv_03_energy.ino, `EnergyShow`. A device with
    /// several phases sends lists (evcc-io/evcc issue 18879).
    private static func tasmota(_ topic: String, _ channel: Int?, _ isPolled: Bool) -> SmartPlugDescription {
        let pattern = topic.contains("%prefix%") ? topic : "%prefix%/\(topic)"
        let full = { (prefix: String) in pattern.replacing("%prefix%", with: prefix) }
        let members: [(Quantity, String, ScaledUnit)] = [
            (.voltage, "Voltage", ScaledUnit()), (.current, "Current", ScaledUnit()), (.power, "Power", ScaledUnit()),
            (.energy, "Total", ScaledUnit(factor: 1000)), (.powerFactor, "Factor", ScaledUnit()),
            (.frequency, "Frequency", ScaledUnit()),
        ]
        let values = [
            (full("tele") + "/SENSOR", ["ENERGY"]), (full("stat") + "/STATUS10", ["StatusSNS", "ENERGY"]),
        ].flatMap { topic, path in
            members.map { quantity, name, unit in
                // The total energy covers all phases, so it is not a list.
                let index = quantity == .energy ? nil : channel.map(String.init)
                return SmartPlugDescription.Value(
                    quantity, topic: topic, path: path + [name] + [index].compactMap { $0 }, unit: unit)
            }
        }
        var plug = SmartPlugDescription(
            isPolled ? .tasmotaPolled : .tasmota, key: channel.map { "\(topic)#\($0)" } ?? topic, values: values)
        plug.availability = .init(topic: full("tele") + "/LWT", online: "Online", offline: "Offline")
        if isPolled { plug.request = BrokerMessage(full("cmnd") + "/STATUS", "10") }
        plug.silenceRemedy =
            isPolled
            ? "Does it measure? Its answers to STATUS 10 have no ENERGY."
            : "It publishes each 300 s unless its TelePeriod is shorter: set that, or poll = true."
        return plug
    }

    /// Topics and members: shelly-api-docs.shelly.cloud/gen2/ComponentsAndServices, pages Mqtt, Switch, PM1, EM,
    /// EMData, EM1 and EM1Data; an example is in iobroker-community-adapters/ioBroker.shelly issue 813.
    private static func shelly(_ prefix: String, _ component: String) -> SmartPlugDescription? {
        let parts = component.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, UInt8(parts[1]) != nil else { return nil }
        let status = "\(prefix)/status/\(component)"
        var values: [SmartPlugDescription.Value] = []
        func add(_ quantity: Quantity, _ path: String..., at topic: String = status) {
            values.append(SmartPlugDescription.Value(quantity, topic: topic, path: path))
        }
        switch parts[0] {
        case "switch", "cover", "light", "pm1":
            add(.voltage, "voltage")
            add(.current, "current")
            add(.power, "apower")
            add(.energy, "aenergy", "total")
            add(.powerFactor, "pf")
            add(.frequency, "freq")
            add(.temperature, "temperature", "tC")
        case "em1":
            add(.voltage, "voltage")
            add(.current, "current")
            add(.power, "act_power")
            add(.powerFactor, "pf")
            add(.frequency, "freq")
            add(.energy, "total_act_energy", at: "\(prefix)/status/em1data:\(parts[1])")
        case "em":
            // Readings of a three-phase meter omit the voltage, because each phase has its own.
            add(.current, "total_current")
            add(.power, "total_act_power")
            add(.energy, "total_act", at: "\(prefix)/status/emdata:\(parts[1])")
        default: return nil
        }
        var plug = SmartPlugDescription(.shelly, key: "\(prefix)/\(component)", values: values)
        plug.availability = .init(topic: "\(prefix)/online", online: "true", offline: "false")
        plug.silenceRemedy =
            "Switch on \"Generic status update over MQTT\" (status_ntf) in its MQTT settings. Does it have \(component)?"
        return plug
    }

    /// Topics: shelly-api-docs.shelly.cloud/gen1, "MQTT"; the energy is in watt-minutes (iobroker-community-adapters/
    /// ioBroker.shelly divides by 60, as does the Shelly plugin of Indigo).
    private static func firstShelly(_ id: String, _ channel: Int) -> SmartPlugDescription {
        let topic = id.contains("/") ? id : "shellies/\(id)"
        let relay = "\(topic)/relay/\(channel)"
        var plug = SmartPlugDescription(
            .shelly, key: relay,
            values: [
                .init(.power, topic: "\(relay)/power", path: []),
                .init(.energy, topic: "\(relay)/energy", path: [], unit: ScaledUnit(factor: 1.0 / 60)),
            ])
        plug.availability = .init(topic: "\(topic)/online", online: "true", offline: "false")
        plug.silenceRemedy = "Does it measure power, and does it have relay \(channel)?"
        return plug
    }
}
