import GatewayAPI
import MeterCodec
import MeterModel

/// A frame as `decode --json` prints it (Docs/CommandLine.md#output): one object for each frame.
///
/// `reading` is the newest measurement in it; a frame that carries several has all of them, oldest first, in `readings`
/// too. A quantity that the model lacks is absent; one that it has but does not know is null.
struct DecodedFrame: Encodable {
    private let frame: Frame
    private let raw: [UInt8]

    init(_ frame: Frame, raw: [UInt8]) {
        self.frame = frame
        self.raw = raw
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: TextKey.self)
        let content = frame.content
        try container.encode(content.model?.displayName, forKey: TextKey("model"))
        var readings: [ReadingBody] = []
        frame.forEachReading { readings.append(ReadingBody($0)) }
        if let last = readings.last { try container.encode(last, forKey: TextKey("reading")) }
        if readings.count > 1 { try container.encode(readings, forKey: TextKey("readings")) }
        if !content.groups.isEmpty { try container.encode(content.groups.map(Group.init), forKey: TextKey("groups")) }
        if let device = content.device, device != DeviceInfo(model: device.model) {
            let body = DeviceBody(
                serial: device.serial, firmware: device.firmware, hardware: device.hardware,
                power_on_count: device.powerOnCount)
            try container.encode(body, forKey: TextKey("device"))
        }
        if !content.details.isEmpty { try container.encode(Details(content.details), forKey: TextKey("details")) }
        try container.encode(Hex.encode(raw), forKey: TextKey("raw"))
    }

    private struct Group: Encodable {
        var index: Int
        var charge_mAh: Double
        var energy_mWh: Double

        init(_ totals: GroupTotals) {
            index = totals.index
            charge_mAh = totals.charge_mAh
            energy_mWh = totals.energy_mWh
        }
    }

    private struct Details: Encodable {
        private let details: [FrameDetail]

        init(_ details: [FrameDetail]) { self.details = details }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: TextKey.self)
            for detail in details {
                let key = TextKey(detail.key)
                switch detail.value {
                case .integer(let value): try container.encode(value, forKey: key)
                case .number(let value): try container.encode(value, forKey: key)
                case .text(let value): try container.encode(value, forKey: key)
                case .flag(let value): try container.encode(value, forKey: key)
                case .unknown: try container.encodeNil(forKey: key)
                }
            }
        }
    }
}
