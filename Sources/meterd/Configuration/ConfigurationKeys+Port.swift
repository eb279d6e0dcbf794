import Domain
import MeterCodec

/// A `[[port]]`, before its keys are checked against each other.
struct PortKeys: Sendable {
    var path: String?
    var hidraw: String?
    var model: String?
    var id: MeterID?
    var name: String?
    var connects = true
}

extension ConfigurationKeys {
    static let port = ConfigurationTable(
        "port", heading: "[[port]]", "A serial port that nothing identifies. Repeatable.",
        defaults: PortKeys(),
        keys: [
            .init("path", optional: \.path, .text, example: #""/dev/rfcomm0""#),
            .init("hidraw", optional: \.hidraw, .text),
            .init("model", optional: \.model, .text, example: #""um25c""#),
            .init(
                "id", optional: \.id, .parsed("a MAC address or a usb:… id") { MeterID($0) },
                example: #""AA:BB:CC:DD:EE:FF""#, "The meter's own address, if you know it."),
            .init("name", optional: \.name, .text, example: #""Bench""#),
            .init(
                "connect", \.connects, .flag, "From the first start; settings made with meterctl take precedence."),
        ])

    /// Example of a raw HID port instead of a serial one.
    static let rawPort = ConfigurationReference.Block(
        heading: "[[port]]",
        explanation: "A raw HID device has hidraw in place of path.",
        lines: [.init(key: "hidraw", value: #""/dev/hidraw3""#), .init(key: "model", value: #""fnb48""#)])

    /// Example of a meter described by the user. The meter's family parses its keys.
    static let model = ConfigurationReference.Block(
        heading: "[model.ina226]",
        explanation:
            "A board of yours that prints what it measures as lines of text (Docs/Meters/GENERIC.md). A [[port]] with "
            + "model = \"ina226\" has one. Repeatable under other names.",
        lines: MeterCatalogue.standard.descriptionKeys.map {
            .init(key: $0.name, value: $0.example, explanation: $0.explanation)
        })
}

extension Configuration.Port {
    init(_ table: [String: DescriptionValue], among catalogue: MeterCatalogue) throws(ConfigurationError) {
        var keys = PortKeys()
        try ConfigurationKeys.port.read(table, prefix: "port.", into: &keys)
        if let serial = keys.path, let raw = keys.hidraw {
            throw ConfigurationError(
                "a [[port]] has both path = \"\(serial.visible)\" and hidraw = \"\(raw.visible)\"",
                next: "keep path for a serial port, hidraw for a raw HID device; two meters are two [[port]]")
        }
        guard let path = keys.path ?? keys.hidraw, path.hasPrefix("/") else {
            throw ConfigurationError(
                "a [[port]] has no path",
                next: "give it the device, for example path = \"/dev/rfcomm0\" or hidraw = \"/dev/hidraw3\"")
        }
        guard let model = keys.model.flatMap({ catalogue.model(named: $0) }) else {
            throw ConfigurationError(
                "the [[port]] \(path.visible) names no model that is known",
                next: "the models are \(catalogue.models.map(\.rawValue).joined(separator: ", "))")
        }
        let port = DeclaredPort(
            keys.hidraw == nil ? .serial(path: path) : .hid(path: path), model: model, id: keys.id, name: keys.name)
        self.init(declared: port, connects: keys.connects)
    }
}
