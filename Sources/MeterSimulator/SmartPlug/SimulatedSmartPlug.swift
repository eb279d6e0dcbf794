package import Domain
package import MeterCodec

/// A simulated device behind an MQTT broker: returns its messages and receives those on its request topic.
///
/// Messages have the format of published examples: for Tasmota arendst/Tasmota issues 1621 and 20459, for a Shelly Plus
/// Plug S iobroker-community-adapters/ioBroker.shelly issue 813.
package struct SimulatedSmartPlug: Sendable {
    package let preset: SmartPlugPreset
    package let topic: String
    private var board: any SimulatedMeter
    private var driver: any MeterDriver
    private var last = Reading()

    /// - Parameter board: a meter from `SmartPlugSimulator`.
    /// - Returns: nil for another family's meter.
    package init?(_ board: any SimulatedMeter, as preset: SmartPlugPreset, topic: String) {
        guard board.model.family == .smartPlug, let driver = SmartPlugFamily().driver(for: board.model, over: .network)
        else { return nil }
        (self.preset, self.topic, self.board, self.driver) = (preset, topic, board, driver)
    }

    private var availability: (topic: String, online: String, offline: String) {
        switch preset {
        case .tasmotaTelemetry: ("tele/\(topic)/LWT", "Online", "Offline")
        case .shellyStatus: ("\(topic)/online", "true", "false")
        case .shellyFirst: ("shellies/\(topic)/online", "true", "false")
        }
    }

    /// Message that the broker publishes when the device is gone.
    package var will: BrokerMessage { BrokerMessage(availability.topic, availability.offline, isRetained: true) }

    /// Message that the device publishes once it is connected.
    package var birth: BrokerMessage { BrokerMessage(availability.topic, availability.online, isRetained: true) }

    package var subscriptions: [String] { preset == .tasmotaTelemetry ? ["cmnd/\(topic)/+"] : [] }

    package var nextDue: Duration? { board.nextDue }

    /// Returns the messages that the device publishes by itself at or before `time` since its start.
    ///
    /// - Parameter wall: the device's clock, in UTC.
    package mutating func due(at time: Duration, _ wall: WallTime) -> [BrokerMessage] {
        var isNew = false
        for bytes in board.due(at: time) { isNew = take(bytes) || isNew }
        guard isNew else { return [] }
        switch preset {
        case .tasmotaTelemetry: return [BrokerMessage("tele/\(topic)/SENSOR", "{\(tasmotaMembers(wall))}")]
        case .shellyStatus: return [BrokerMessage("\(topic)/status/switch:0", shellyStatus(wall))]
        case .shellyFirst:
            let relay = "shellies/\(topic)/relay/0"
            return [
                BrokerMessage("\(relay)/power", text(.power, 2)),
                BrokerMessage("\(relay)/energy", text(.energy, 0, factor: 60)),
            ]
        }
    }

    /// Returns the answers to a message on one of `subscriptions`.
    package mutating func received(
        _ message: BrokerMessage, at time: Duration, _ wall: WallTime
    ) -> [BrokerMessage] {
        guard preset == .tasmotaTelemetry, message.topic.lowercased() == "cmnd/\(topic)/status".lowercased(),
            message.text.filter({ $0 != " " }) == "10"
        else { return [] }
        for bytes in board.receive(SmartPlugFamily.lines(of: board.model).request, at: time) { _ = take(bytes) }
        return [BrokerMessage("stat/\(topic)/STATUS10", "{\"StatusSNS\":{\(tasmotaMembers(wall))}}")]
    }

    private mutating func take(_ bytes: [UInt8]) -> Bool {
        var newest: Reading?
        driver.receive(bytes) { event in
            if case .frame(let frame) = event { frame.forEachReading { newest = $0 } }
        }
        last = newest ?? last
        return newest != nil
    }

    /// Returns a Tasmota message's JSON members. Its time is local, without a zone.
    private func tasmotaMembers(_ wall: WallTime) -> String {
        """
        "Time":"\(wall.description.prefix(19))","ENERGY":{"TotalStartTime":"2026-01-01T00:00:00",\
        "Total":\(text(.energy, 3, factor: 0.001)),"Yesterday":0.000,"Today":\(text(.energy, 3, factor: 0.001)),\
        "Period":0,"Power":\(text(.power, 0)),"ApparentPower":\(text(.power, 0)),"ReactivePower":0,\
        "Factor":\(text(.powerFactor, 2)),"Voltage":\(text(.voltage, 0)),"Current":\(text(.current, 3))}
        """
    }

    private func shellyStatus(_ wall: WallTime) -> String {
        """
        {"id":0, "source":"init", "output":true, "apower":\(text(.power, 1)), "voltage":\(text(.voltage, 1)), \
        "current":\(text(.current, 3)), "aenergy":{"total":\(text(.energy, 3)),"by_minute":[0.000,0.000,0.000],\
        "minute_ts":\(wall.millisecondsSince1970 / 60_000 * 60)},"temperature":{"tC":34.8, "tF":94.7}}
        """
    }

    private func text(_ quantity: Quantity, _ decimals: Int, factor: Double = 1) -> String {
        ((last[quantity] ?? 0) * factor).text(decimals: decimals)
    }
}

package struct SmartPlugSimulator: FamilySimulator {
    package init() {}

    package var family: MeterFamily { .smartPlug }

    /// Simulates the driver's input: lines of JSON. `SimulatedSmartPlug` turns them into a device's messages.
    package func meter(
        _ model: ModelName, over transport: LinkAddress.Transport, _ options: SimulatorOptions
    ) -> any SimulatedMeter {
        // Usual load: a lamp at mains voltage.
        let usual = ElectricalLoad(supply: 231, startCurrent: 0.26, halfLife: 86_400, seed: options.seed)
        return SimulatedBoard(
            model: model, SmartPlugFamily.lines(of: model), load: options.load(usual: usual),
            period: options.refresh ?? .seconds(1))
    }
}
