package import Domain

/// One complete message from a meter, verified by all checks that the model provides.
///
/// Frequent frames have separate cases or, up to 64 bytes, use `packed`, because `forEachReading` then needs no
/// existential box.
package enum Frame: Sendable {
    case um(UMBlock)
    case fnirsiUSB(FNIRSIUSBPacket)
    case fnirsiBLE(FNIRSIBLEFrame)
    case atorchReport(AtorchReport)
    case atorchReply(AtorchReply)
    case tc66(TC66Message)
    case km003c(KM003CMessage)
    case packed(PackedFrame)
    case line(LineFrame)
    case other(any FrameContent)
}

package protocol FrameContent: Sendable {
    /// Nil if the bytes do not identify the model.
    var model: ModelName? { get }
    /// Calls `body` for each measurement, oldest first. Replies contain none.
    func forEachReading(_ body: (Reading) -> Void)
    /// Calls `body` for each measurement, with its sampling time (`SampleTicks`) if known.
    func forEachSample(_ body: (Reading, _ tick: UInt16?) -> Void)
    /// Sampling times of the frame's measurements; nil if it has none or they are unknown.
    var sampleTicks: SampleTicks? { get }
    /// Extremes of the samples of which the frame's only reading is the mean; nil in other frames.
    var spread: ReadingSpread? { get }
    /// Data groups; empty for most frames.
    var groups: [GroupTotals] { get }
    /// Data group whose energy and charge are in the readings; nil without groups, or while unknown.
    var countingGroup: Int? { get }
    var device: DeviceInfo? { get }
    var powerDelivery: PDReport? { get }
    /// All other fields, under their JSON keys.
    var details: [FrameDetail] { get }
}

extension FrameContent {
    package func forEachSample(_ body: (Reading, _ tick: UInt16?) -> Void) {
        // Frames with several readings override this.
        let tick = sampleTicks?.newest
        forEachReading { body($0, tick) }
    }

    package var sampleTicks: SampleTicks? { nil }
    package var spread: ReadingSpread? { nil }
    package var groups: [GroupTotals] { [] }
    package var countingGroup: Int? { nil }
    package var device: DeviceInfo? { nil }
    package var powerDelivery: PDReport? { nil }
    package var details: [FrameDetail] { [] }
}

extension Frame {
    package var content: any FrameContent {
        switch self {
        case .um(let block): block
        case .fnirsiUSB(let packet): packet
        case .fnirsiBLE(let frame): frame
        case .atorchReport(let report): report
        case .atorchReply(let reply): reply
        case .tc66(let message): message
        case .km003c(let message): message
        case .packed(let frame): frame.content
        case .line(let frame): frame
        case .other(let content): content
        }
    }

    /// Number of the frame's kind. `TelemetryFrames` stores only the last frame of each kind.
    package var shape: Int {
        switch self {
        case .um: 0
        case .fnirsiUSB: 1
        // Includes the data group's index, because each group is sent in a separate frame.
        case .fnirsiBLE(let frame): 0x1_0000 + Int(frame.type) << 8 + (frame.groups.first?.index ?? 0) & 0xFF
        case .atorchReport: 2
        case .atorchReply: 3
        case .tc66: 4
        case .km003c: 5
        case .other: 6
        case .packed: 7
        case .line: 8
        }
    }

    /// Avoids the existential box of `content.forEachReading` in this hot path. So do the members below.
    package func forEachReading(_ body: (Reading) -> Void) {
        switch self {
        case .um(let block): block.forEachReading(body)
        case .fnirsiUSB(let packet): packet.forEachReading(body)
        case .fnirsiBLE(let frame): frame.forEachReading(body)
        case .atorchReport(let report): report.forEachReading(body)
        case .atorchReply: break
        case .tc66(let message): message.forEachReading(body)
        case .km003c(let message): message.forEachReading(body)
        case .packed(let frame): frame.forEachReading(body)
        case .line(let frame): frame.forEachReading(body)
        case .other(let content): content.forEachReading(body)
        }
    }

    package func forEachSample(_ body: (Reading, _ tick: UInt16?) -> Void) {
        switch self {
        case .fnirsiUSB(let packet): packet.forEachSample(body)
        case .km003c(let message): message.forEachSample(body)
        case .packed(let frame): frame.forEachSample(body)
        case .other(let content): content.forEachSample(body)
        default: forEachReading { body($0, nil) }
        }
    }

    package var sampleTicks: SampleTicks? {
        switch self {
        case .fnirsiUSB(let packet): packet.sampleTicks
        case .km003c(let message): message.sampleTicks
        case .packed(let frame): frame.sampleTicks
        case .other(let content): content.sampleTicks
        default: nil
        }
    }

    package var spread: ReadingSpread? {
        if case .other(let content) = self { content.spread } else { nil }
    }

    package var countingGroup: Int? {
        switch self {
        case .um(let block): block.countingGroup
        case .fnirsiBLE(let frame): frame.countingGroup
        case .tc66(let message): message.countingGroup
        case .packed(let frame): frame.countingGroup
        case .other(let content): content.countingGroup
        case .fnirsiUSB, .atorchReport, .atorchReply, .km003c, .line: nil
        }
    }

    package var powerDelivery: PDReport? {
        switch self {
        case .km003c(let message): message.powerDelivery
        case .packed(let frame): frame.powerDelivery
        case .other(let content): content.powerDelivery
        default: nil
        }
    }

    package var device: DeviceInfo? {
        switch self {
        case .um(let block): block.device
        case .fnirsiUSB(let packet): packet.device
        case .fnirsiBLE(let frame): frame.device
        case .atorchReport(let report): report.device
        case .atorchReply(let reply): reply.device
        case .tc66(let message): message.device
        case .km003c(let message): message.device
        case .packed(let frame): frame.device
        case .line(let frame): frame.device
        case .other(let content): content.device
        }
    }
}

/// A field of a frame other than its readings and groups. Its JSON key ends in the unit.
package struct FrameDetail: Hashable, Sendable {
    package var key: String
    package var value: Value
    /// Whether live views show the field: it describes the meter or the measurement, not only the frame.
    package var isTold = false

    package init(_ key: String, _ value: Value) {
        self.key = key
        self.value = value
    }

    /// Returns a field for live views, under a key documented on the model's page in Docs/Meters.
    package static func told(_ key: String, _ value: Value) -> FrameDetail {
        var detail = FrameDetail(key, value)
        detail.isTold = true
        return detail
    }

    /// Ignores `isTold`.
    package static func == (lhs: Self, rhs: Self) -> Bool { lhs.key == rhs.key && lhs.value == rhs.value }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(key)
        hasher.combine(value)
    }

    package enum Value: Hashable, Sendable {
        case integer(Int)
        case number(Double)
        case text(String)
        case flag(Bool)
        /// The model has the field, but its value is unknown now.
        case unknown
    }
}
