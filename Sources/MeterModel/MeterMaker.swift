/// Whose line of meters a meter belongs to, whether or not it can be read here. The raw value is what JSON carries.
package enum MeterMaker: String, CaseIterable, Sendable {
    /// RuiDeng: UM24C to UM34C, TC66, TC66C.
    case rdtech
    case fnirsi
    /// ChargerLAB: the POWER-Z meters.
    case chargerlab
    case atorch
    case witrn
    /// Sold as AVHzY, Shizuku and others.
    case shizuku
    case yzxstudio
}

extension ModelName {
    package var maker: MeterMaker {
        switch family {
        case .um, .tc66: .rdtech
        case .fnirsi: .fnirsi
        case .km003c: .chargerlab
        case .atorch: .atorch
        }
    }
}
