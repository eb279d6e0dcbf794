package import Domain

/// One complete message from a meter, verified as far as its model has checks.
///
/// Families with a case of their own are read without a box (`forEachReading`), and so is `packed`, which is for every
/// family's frames of up to 64 bytes; all others use `other`.
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

/// What every frame offers, whatever its family.
package protocol FrameContent: Sendable {
    /// The model, if the bytes tell it.
    var model: ModelName? { get }
    /// Calls `body` for each measurement in the frame, oldest first. Most frames hold one, a reply holds none.
    func forEachReading(_ body: (Reading) -> Void)
    /// The same, each with the tick at which it was taken, if the frame says so.
    func forEachSample(_ body: (Reading, _ tick: UInt16?) -> Void)
    /// Of which ticks it has samples; nil in a frame without.
    var sampleTicks: SampleTicks? { get }
    /// The data groups in it; empty for most frames.
    var groups: [GroupTotals] { get }
    /// The data group whose energy and charge its readings have; nil without groups, and while it is unknown.
    var countingGroup: Int? { get }
    /// What the meter says about itself in it.
    var device: DeviceInfo? { get }
    /// What the meter heard on the CC line; nil in a frame about something else.
    var powerDelivery: PDReport? { get }
    /// Everything else in it, under the keys that JSON uses.
    var details: [FrameDetail] { get }
}

extension FrameContent {
    package func forEachSample(_ body: (Reading, _ tick: UInt16?) -> Void) {
        // One with several has ticks of its own for each.
        let tick = sampleTicks?.newest
        forEachReading { body($0, tick) }
    }

    package var sampleTicks: SampleTicks? { nil }
    package var groups: [GroupTotals] { [] }
    package var countingGroup: Int? { nil }
    package var device: DeviceInfo? { nil }
    package var powerDelivery: PDReport? { nil }
    package var details: [FrameDetail] { [] }
}

extension Frame {
    /// The family's own value, through the protocol that all of them share.
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

    /// Frames with one shape tell the same things, so a later one replaces an earlier one.
    package var shape: Int {
        switch self {
        case .um: 0
        case .fnirsiUSB: 1
        // Each of its groups comes in a frame of its own.
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

    /// The same as `content.forEachReading`, without boxing the frame: for the hot path.
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

    /// The same as `content.forEachSample`, without boxing the frame.
    package func forEachSample(_ body: (Reading, _ tick: UInt16?) -> Void) {
        switch self {
        case .fnirsiUSB(let packet): packet.forEachSample(body)
        case .km003c(let message): message.forEachSample(body)
        case .packed(let frame): frame.forEachSample(body)
        case .other(let content): content.forEachSample(body)
        default: forEachReading { body($0, nil) }
        }
    }

    /// The same as `content.sampleTicks`, without boxing the frame.
    package var sampleTicks: SampleTicks? {
        switch self {
        case .fnirsiUSB(let packet): packet.sampleTicks
        case .km003c(let message): message.sampleTicks
        case .packed(let frame): frame.sampleTicks
        case .other(let content): content.sampleTicks
        default: nil
        }
    }

    /// The same as `content.countingGroup`, without boxing the frame.
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

    /// The same as `content.powerDelivery`, without boxing the frame.
    package var powerDelivery: PDReport? {
        switch self {
        case .km003c(let message): message.powerDelivery
        case .packed(let frame): frame.powerDelivery
        case .other(let content): content.powerDelivery
        default: nil
        }
    }

    /// The same as `content.device`, without boxing the frame.
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

/// A further field of a frame, with its key in JSON (unit last, as in `Quantity.key`).
package struct FrameDetail: Hashable, Sendable {
    package var key: String
    package var value: Value
    /// It says something about the meter or what is measured, and not about the frame alone: people see it live.
    package var isTold = false

    package init(_ key: String, _ value: Value) {
        self.key = key
        self.value = value
    }

    /// One that people see live, under a key that the model's page in Docs/Meters names.
    package static func told(_ key: String, _ value: Value) -> FrameDetail {
        var detail = FrameDetail(key, value)
        detail.isTold = true
        return detail
    }

    /// Who compares two fields means what they say.
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
        /// The model has the field but does not know its value at the moment.
        case unknown
    }
}
