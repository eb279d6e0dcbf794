import Domain

/// Sensors of an ESPHome node that together act as one meter.
struct SensorChoice: Sendable {
    private(set) var sensors: [UInt32: (quantity: Quantity, unit: ScaledUnit)] = [:]
    private(set) var quantities: [Quantity] = []
    private(set) var remark: String?

    /// - Parameter names: object ids chosen by the user; empty to omit a quantity.
    /// - Throws: `APIFault.unsuitable` with advice if the choice is missing or ambiguous, or if no sensor is suitable.
    init(
        _ listed: [ProtoMessage<SensorInfo>], of info: ProtoMessage<DeviceInfoResponse>, names: [Quantity: String],
        node: NodeSettings
    ) throws(APIFault) {
        let found = listed.map { sensor in (sensor: sensor, id: Self.objectID(of: sensor, info)) }
        let ids = { (some: [(sensor: ProtoMessage<SensorInfo>, id: String)]) in
            some.prefix(24).map(\.id.visible).joined(separator: ", ") + (some.count > 24 ? " …" : "")
        }
        for quantity in Quantity.ofNodes where names[quantity] != "" {
            let name = names[quantity]
            let fitting = found.filter { one in
                if let name { return one.id == name }
                return one.sensor.deviceClass == quantity.word && one.sensor.category == 0
            }
            guard let one = fitting.first else {
                guard let name else { continue }
                throw .unsuitable(
                    "\(node.display) has no sensor \"\(name.visible)\", which its \(node.table) names as its"
                        + " \(quantity.word). Its sensors are: \(ids(found)).")
            }
            guard fitting.count == 1 else {
                throw .unsuitable(
                    "\(node.display) has \(fitting.count) sensors of \(quantity.word): \(ids(fitting)). Name one in its"
                        + " \(node.table), as \(quantity.word) = \"\(one.id.visible)\", or none with \"\".")
            }
            quantities.append(quantity)
            if let unit = ScaledUnit(one.sensor.unit, of: quantity) {
                sensors[one.sensor.key] = (quantity, unit)
            } else {
                let before = remark.map { "\($0) " } ?? ""
                remark =
                    before
                    + "\(one.id.visible) of \(node.display) measures in \"\(one.sensor.unit.visible)\", and meterd knows no such"
                    + " unit of \(quantity.word), which is unknown. Set its unit_of_measurement: to \(quantity.unit)."
            }
        }
        guard quantities.contains(where: { $0 != .temperature }) else {
            throw .unsuitable(
                "\(node.display) has no sensor of device_class voltage, current, power or energy. "
                    + (found.isEmpty ? "It has no sensors." : "Its sensors are: \(ids(found))."))
        }
        // Without a power sensor, add power as unknown: programs would multiply voltage and current, which is wrong for
        // alternating current.
        if quantities.contains(.voltage), quantities.contains(.current), !quantities.contains(.power) {
            quantities.append(.power)
        }
    }

    /// Returns the object id; since firmware 2026.1 it is derived from the name, as in aioesphomeapi 46.23.0,
    /// `object_id.py`.
    private static func objectID(of sensor: ProtoMessage<SensorInfo>, _ info: ProtoMessage<DeviceInfoResponse>)
        -> String
    {
        guard sensor.objectID.isEmpty else { return sensor.objectID }
        let name = [sensor.name, info.friendlyName, info.name].first { !$0.isEmpty } ?? ""
        return String(
            decoding: name.unicodeScalars.map { scalar in
                switch scalar {
                case "a"..."z", "0"..."9", "_", "-": UInt8(ascii: scalar)
                case "A"..."Z": UInt8(ascii: scalar) | 0x20
                default: UInt8(ascii: "_")
                }
            }, as: UTF8.self)
    }
}
