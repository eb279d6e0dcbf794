package import MeterModel

/// One whole message from a meter, checked as far as its model has checks.
///
/// Who has a case of its own is read without a box (`forEachReading`); all others are `other`.
package enum Frame: Sendable {
    case um(UMBlock)
    case fnirsiUSB(FNIRSIUSBPacket)
    case fnirsiBLE(FNIRSIBLEFrame)
    case atorchReport(AtorchReport)
    case atorchReply(AtorchReply)
    case tc66(TC66Message)
    case km003c(KM003CMessage)
    case other(any FrameContent)
}

/// What every frame can be asked, whatever its family.
package protocol FrameContent: Sendable {
    /// The model, as far as the bytes tell it.
    var model: ModelName? { get }
    /// Calls `body` for each measurement in the frame, oldest first. Most frames hold one, a reply holds none.
    func forEachReading(_ body: (Reading) -> Void)
    /// The data groups it carries, empty for most.
    var groups: [GroupTotals] { get }
    /// What the meter says of itself in it.
    var device: DeviceInfo? { get }
    /// Everything else in it, under the names that JSON uses.
    var details: [FrameDetail] { get }
}

extension FrameContent {
    package var groups: [GroupTotals] { [] }
    package var device: DeviceInfo? { nil }
    package var details: [FrameDetail] { [] }
}

extension Frame {
    /// The family's own value, seen through what all of them share.
    package var content: any FrameContent {
        switch self {
        case .um(let block): block
        case .fnirsiUSB(let packet): packet
        case .fnirsiBLE(let frame): frame
        case .atorchReport(let report): report
        case .atorchReply(let reply): reply
        case .tc66(let message): message
        case .km003c(let message): message
        case .other(let content): content
        }
    }

    /// As `content.forEachReading`, for the hot path: without boxing the frame.
    package func forEachReading(_ body: (Reading) -> Void) {
        switch self {
        case .um(let block): block.forEachReading(body)
        case .fnirsiUSB(let packet): packet.forEachReading(body)
        case .fnirsiBLE(let frame): frame.forEachReading(body)
        case .atorchReport(let report): report.forEachReading(body)
        case .atorchReply: break
        case .tc66(let message): message.forEachReading(body)
        case .km003c(let message): message.forEachReading(body)
        case .other(let content): content.forEachReading(body)
        }
    }
}

/// One further field of a frame, by the key it has in JSON (unit last, as in `Quantity.key`).
package struct FrameDetail: Hashable, Sendable {
    package var key: String
    package var value: Value

    package init(_ key: String, _ value: Value) {
        self.key = key
        self.value = value
    }

    package enum Value: Hashable, Sendable {
        case integer(Int)
        case number(Double)
        case text(String)
        case flag(Bool)
        /// The model has the field and does not know it just now.
        case unknown
    }
}
