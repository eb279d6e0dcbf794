import Domain
import MeterCodec

/// Last frame of each kind (`Frame.shape`), for a meter's data besides readings: charging mode, data groups, USB PD
/// contract. Decoded only on request.
struct TelemetryFrames {
    private var frames: [(shape: Int, frame: Frame)] = []

    /// Maximum number of kinds of frame, more than any meter sends. FNIRSI's data groups alone are ten kinds.
    private static let shapesMax = 24

    mutating func add(_ frame: Frame) {
        let shape = frame.shape
        if let place = frames.firstIndex(where: { $0.shape == shape }) {
            frames[place].frame = frame
        } else {
            if frames.count >= Self.shapesMax { frames.removeFirst() }
            frames.append((shape, frame))
        }
    }

    mutating func forget() { frames = [] }

    var body: TelemetryBody? {
        var body = TelemetryBody()
        var groups: [Int: GroupTotals] = [:]
        for (_, frame) in frames {
            let content = frame.content
            for detail in content.details where detail.isTold {
                body.details[detail.key] = TelemetryBody.Value(detail.value)
            }
            for group in content.groups { groups[group.index] = group }
        }
        body.groups = groups.values.sorted { $0.index < $1.index }.map { group in
            TelemetryBody.Group(index: group.index, charge_mAh: group.charge_mAh, energy_Wh: group.energy_mWh / 1000)
        }
        return body == TelemetryBody() ? nil : body
    }
}

extension TelemetryBody.Value {
    fileprivate init(_ value: FrameDetail.Value) {
        self =
            switch value {
            case .integer(let value): .number(Double(value))
            case .number(let value): .number(value)
            case .text(let value): .text(value)
            case .flag(let value): .flag(value)
            case .unknown: .unknown
            }
    }
}
