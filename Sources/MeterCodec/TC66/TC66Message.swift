package import Domain

package enum TC66Message: Sendable {
    /// The answer to `getva`.
    case block(TC66Block)
    /// The answer to `query`.
    case mode(TC66Mode)
}

/// Program that the meter runs. The raw value is the text that the meter sends (Docs/Protocols/TC66.md#links).
package enum TC66Mode: String, CaseIterable, Sendable {
    case firmware = "firm"
    /// The bootloader, which waits for new firmware and answers only `query`. Unplugging the meter ends it.
    case boot

    package static let length = 4

    package init?(_ bytes: UnsafeRawBufferPointer) {
        switch bytes.u32BE(0) {
        case 0x6669_726D: self = .firmware
        case 0x626F_6F74: self = .boot
        default: return nil
        }
    }
}

extension TC66Message: FrameContent {
    /// TC66, because a TC66C also identifies itself as TC66.
    package var model: ModelName? { .tc66 }

    package func forEachReading(_ body: (Reading) -> Void) {
        if case .block(let block) = self { body(block.reading) }
    }

    package var groups: [GroupTotals] {
        switch self {
        case .block(let block): block.groups
        case .mode: []
        }
    }

    package var countingGroup: Int? {
        switch self {
        case .block(let block): block.countingGroup
        case .mode: nil
        }
    }

    package var device: DeviceInfo? {
        switch self {
        case .block(let block): block.device
        case .mode: nil
        }
    }

    package var details: [FrameDetail] {
        switch self {
        case .block(let block): block.details
        case .mode(let mode): [FrameDetail("mode", .text(mode.rawValue))]
        }
    }
}
