/// Maker of a meter, even of an unsupported one. The raw value is used in JSON.
package struct MeterMaker: Hashable, Sendable {
    package let rawValue: String

    package init(_ rawValue: String) { self.rawValue = rawValue }

    /// RuiDeng: UM24C to UM34C, TC66, TC66C.
    package static let rdtech = MeterMaker("rdtech")
    package static let fnirsi = MeterMaker("fnirsi")
    /// ChargerLAB: the POWER-Z meters.
    package static let chargerlab = MeterMaker("chargerlab")
    package static let atorch = MeterMaker("atorch")
    package static let witrn = MeterMaker("witrn")
    /// Sold as AVHzY, Shizuku and others.
    package static let shizuku = MeterMaker("shizuku")
    package static let yzxstudio = MeterMaker("yzxstudio")
    package static let nordic = MeterMaker("nordic")
}
