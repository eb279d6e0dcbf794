import Domain
package import ESPHomeCore
package import MeterCodec
package import MeterSimulator

/// Sensors of a simulated ESPHome node, one for each quantity, with values from a simulated board.
package struct SimulatedSensors: Sendable {
    package var infos: [ProtoMessage<SensorInfo>]
    private var board: any SimulatedMeter
    private var driver: any MeterDriver
    private var last = Reading()

    /// - Returns: nil if the meter is not an ESPHome board.
    package init?(_ board: any SimulatedMeter, in catalogue: MeterCatalogue = .standard) {
        guard let driver = catalogue.driver(for: board.model, over: .network) else { return nil }
        (self.board, self.driver) = (board, driver)
        let units: [Quantity: String] = [.current: "mA", .energy: "kWh"]
        infos = Quantity.ofNodes.map { quantity in
            SensorInfo.made {
                $0.key = 0xE532_0000 | UInt32(quantity.rawValue)
                // Omit the object id, as firmware has done since 2026.1.
                $0.name = "Bus \(quantity.word)"
                ($0.unit, $0.deviceClass) = (units[quantity] ?? quantity.unit, quantity.word)
                $0.stateClass = quantity == .energy ? 2 : 1
            }
        }
    }

    var states: [APIFrame] {
        infos.map { info in
            let factors: [String: Double] = ["mA": 1000, "kWh": 0.001]
            let value = Quantity(rawValue: UInt8(info.key & 0xFF)).flatMap { last[$0] }
            return SensorState.made {
                $0.key = info.key
                $0.isMissing = value == nil
                $0.state = Float((value ?? .nan) * (factors[info.unit] ?? 1))
            }.frame
        }
    }

    /// Returns the states of all sensors after the newest line that the board sends at or before `time`; empty if it
    /// sends none.
    mutating func due(at time: Duration) -> [APIFrame] {
        var newest: Reading?
        for bytes in board.due(at: time) {
            driver.receive(bytes) { event in
                if case .frame(let frame) = event { frame.forEachReading { newest = $0 } }
            }
        }
        guard let newest else { return [] }
        last = newest
        return states
    }

    var nextDue: Duration? { board.nextDue }
}
