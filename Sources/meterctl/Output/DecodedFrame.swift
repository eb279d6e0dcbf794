import Domain
import GatewayAPI
import MeterCodec

/// A frame as printed by `decode --json` (Docs/CommandLine.md#output).
///
/// `reading` is the newest measurement; a frame with several also has `readings`, oldest first. A quantity is absent if
/// the model lacks it, and null if its value is unknown.
struct DecodedFrame: Encodable {
    @NullCodable var model: String?
    var reading: ReadingBody?
    var readings: [ReadingBody]?
    var groups: [Group]?
    var device: DeviceBody?
    var details: Details?
    var raw: String

    init(_ frame: Frame, raw: [UInt8]) {
        let content = frame.content
        var readings: [ReadingBody] = []
        frame.forEachReading { readings.append(ReadingBody($0)) }
        reading = readings.last
        self.readings = readings.count > 1 ? readings : nil
        groups = content.groups.isEmpty ? nil : content.groups.map(Group.init)
        if let device = content.device, device != DeviceInfo(model: device.model) {
            self.device = DeviceBody(
                serial: device.serial, firmware: device.firmware, hardware: device.hardware,
                power_on_count: device.powerOnCount)
        }
        details = content.details.isEmpty ? nil : Details(content.details)
        self.raw = Hex.encode(raw)
        model = content.model?.displayName
    }

    struct Group: Encodable {
        var index: Int
        var charge_mAh: Double
        var energy_mWh: Double

        init(_ totals: GroupTotals) {
            index = totals.index
            charge_mAh = totals.charge_mAh
            energy_mWh = totals.energy_mWh
        }
    }

    struct Details: Encodable {
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
