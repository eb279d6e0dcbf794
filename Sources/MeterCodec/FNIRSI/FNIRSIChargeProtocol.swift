/// A fast-charge protocol that a FNIRSI meter detects on the data lines, by its number in a frame of type 06.
///
/// Numbers are from the vendor's app (CapnBry/fnb48-web, PROTOCOL.md). Confirmed: 1 and 11 with data lines near 0 V
/// (dandrej/usb-meters, ble/fnirsi.py), and 5 with 20.27 V and 3.3 V on both lines (osnwt/ha-fnirsi-fnb58,
/// tests/test_parser.py).
package enum FNIRSIChargeProtocol: UInt8, CaseIterable, Sendable {
    /// No protocol, or one that the meter does not support.
    case none
    case dcp1500
    case quickCharge2At5V, quickCharge2At9V, quickCharge2At12V, quickCharge2At20V
    case quickCharge3
    case apple2100, apple2400
    case samsung2000
    case usb2Full, usb2High
    case fcpAFCAt9V, fcpAFCAt12V
    case huaweiSCP
    case powerDeliveryMTK

    /// Display name; nil for `none`.
    package var name: String? {
        switch self {
        case .none: nil
        case .dcp1500: "DCP1.5A"
        case .quickCharge2At5V: "QC2.0 5V"
        case .quickCharge2At9V: "QC2.0 9V"
        case .quickCharge2At12V: "QC2.0 12V"
        case .quickCharge2At20V: "QC2.0 20V"
        case .quickCharge3: "QC3.0"
        case .apple2100: "APPLE2.1A"
        case .apple2400: "APPLE2.4A"
        case .samsung2000: "SAMSUNG2.0A"
        case .usb2Full: "USB2.0 Full"
        case .usb2High: "USB2.0 High"
        case .fcpAFCAt9V: "FCP/AFC 9V"
        case .fcpAFCAt12V: "FCP/AFC 12V"
        case .huaweiSCP: "SCP"
        case .powerDeliveryMTK: "PD MTK"
        }
    }
}

/// The fast-charge protocol by which the meter itself requests a voltage, by its number in a frame of type 09
/// (CapnBry/fnb48-web, PROTOCOL.md).
package enum FNIRSITriggerState: String, CaseIterable, Sendable {
    case none
    case quickCharge2 = "QC2.0"
    case quickCharge3 = "QC3.0"
    case fcp = "FCP"
    case scp = "SCP"
    case afc = "AFC"
    case pd = "PD"
    case pd1 = "PD1"
    case vooc = "VOOC"
    case superVOOC = "SVOOC"

    /// Highest number. Both 9 and 10 mean SVOOC.
    static let codeMax: UInt8 = 10

    package init?(code: Int) {
        guard (0...Int(Self.codeMax)).contains(code) else { return nil }
        self = Self.allCases[min(code, Self.allCases.count - 1)]
    }
}
