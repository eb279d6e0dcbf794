package import Domain

/// An Atorch meter's reply to a command: 8 bytes, `FF 55 02 <sender> <code> 00 00 <check>`
/// (Docs/Protocols/Atorch.md#commands-and-replies).
///
/// The sender byte is the meter's type on a J7-H (fawno/ATORCH-HiDANCE, docs/J7-H), but always 01 on a UD18 and a
/// DL24P. It is ignored.
package struct AtorchReply: Hashable, Sendable {
    package static let length = 8

    /// 01, or the meter's type.
    package let sender: UInt8
    package let code: UInt8

    package enum Outcome: String, CaseIterable, Sendable {
        case done = "ok"
        /// The command was for a meter of another type.
        case failed
        case unsupported
        /// The message was not a command.
        case wrongClass = "wrong-class"
        /// The command's check byte or length was wrong.
        case malformed
        /// Code 00, which has no meaning.
        case undefined
        /// A code that no source describes; counts as a rejection.
        case unknown
    }

    package init(sender: UInt8, code: UInt8) {
        self.sender = sender
        self.code = code
    }

    /// - Parameter outcome: `unknown` gets the code FF, which no source describes.
    package init(_ outcome: Outcome) {
        sender = outcome == .undefined ? 0 : 1
        code =
            switch outcome {
            case .undefined: 0
            case .done: 1
            case .failed: 2
            case .unsupported: 3
            case .wrongClass: 5
            case .malformed: 6
            case .unknown: 0xFF
            }
    }

    /// Meaning of `code`. 05 and 06 were found by sending broken commands to a UD18.
    package var outcome: Outcome {
        switch code {
        case 0: .undefined
        case 1: .done
        case 2: .failed
        case 3: .unsupported
        case 5: .wrongClass
        case 6: .malformed
        default: .unknown
        }
    }

    /// Event for the driver's caller; nil for code 00.
    var event: MeterEvent? {
        switch outcome {
        case .done: .acknowledged
        case .failed, .unsupported, .wrongClass, .malformed, .unknown: .rejected
        case .undefined: nil
        }
    }

    package var bytes: [UInt8] {
        let body = [0x02, sender, code, 0, 0]
        return [0xFF, 0x55] + body + [AtorchCheck.byte(over: body)]
    }
}

extension AtorchReply: FrameContent {
    package var model: ModelName? { nil }
    package func forEachReading(_ body: (Reading) -> Void) {}
    package var details: [FrameDetail] {
        [FrameDetail("reply", .text(outcome.rawValue)), FrameDetail("reply_code", .integer(Int(code)))]
    }
}
