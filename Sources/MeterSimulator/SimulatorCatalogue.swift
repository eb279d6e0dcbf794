package import MeterModel

/// Which simulator plays which model. A new family adds a line.
package enum SimulatorCatalogue {
    /// - Parameters:
    ///   - seed: makes two meters of one model differ.
    ///   - refresh: how often the values renew, nil for the model's own rate.
    package static func meter(_ model: ModelName, seed: UInt64 = 1, refresh: Duration? = nil) -> (any SimulatedMeter)? {
        let load = ElectricalLoad(seed: seed)
        switch model {
        case .um24c, .um25c, .um34c:
            return SimulatedUM(model: model, load: load, refresh: refresh ?? .milliseconds(500))
        case .tc66, .tc66c:
            return SimulatedTC66(model: model, load: load, refresh: refresh ?? .milliseconds(100))
        case .km002c, .km003c:
            return SimulatedKM003C(model: model, load: load, refresh: refresh ?? .milliseconds(500))
        case .fnb58:
            return SimulatedFNB58(load: load, packetPeriod: refresh ?? .milliseconds(40))
        case .atorchUSB, .atorchDC, .atorchAC:
            return SimulatedAtorch(model: model, period: refresh ?? .seconds(1), seed: seed)
        default:
            return nil
        }
    }
}
