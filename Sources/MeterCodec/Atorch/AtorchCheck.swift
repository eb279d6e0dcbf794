/// Known rules for the check byte of Atorch messages (Docs/Protocols/Atorch.md#check-byte).
package enum AtorchCheck {
    /// First byte that a report's check byte covers. Some meters follow neither rule.
    package enum Rule: Sendable, CaseIterable {
        /// The byte after `FF 55`, for commands, replies, and the reports of a UD18, DL24, DT3010 and J7-H.
        case fromMessage
        /// The byte after the type byte, for the reports of newer J7-C (dallanwagz/j7c_ha, tests/conftest.py).
        case fromType

        fileprivate var start: Int {
            switch self {
            case .fromMessage: 2
            case .fromType: 3
            }
        }
    }

    /// Returns the sum of the bytes between header and check byte, XOR 0x44.
    package static func byte(over body: some Sequence<UInt8>) -> UInt8 {
        body.reduce(0, &+) ^ 0x44
    }

    package static func byte(ofMessage message: UnsafeRawBufferPointer) -> UInt8 {
        byte(ofMessage: message, by: .fromMessage)
    }

    package static func byte(ofMessage message: UnsafeRawBufferPointer, by rule: Rule) -> UInt8 {
        byte(over: message.dropFirst(rule.start).dropLast())
    }

    /// Returns the rule that a complete report follows, if any. No report follows both.
    package static func rule(ofReport report: UnsafeRawBufferPointer) -> Rule? {
        Rule.allCases.first { byte(ofMessage: report, by: $0) == report.last }
    }
}
