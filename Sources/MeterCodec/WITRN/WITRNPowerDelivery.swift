package import Domain

/// A WITRN meter's report of a message on the CC line (Docs/Protocols/WITRN.md#usb-power-delivery). It has no checksum
/// and no timestamp.
package struct WITRNPowerDelivery: FrameContent, Hashable {
    package static let startMark: UInt8 = 0xFE

    /// Code of the ordered set before the message.
    package let orderedSet: UInt8
    /// Header and data objects; empty for a reset, which has neither.
    package let bytes: [UInt8]
    /// Clock and voltages of the last measurement before the message, if any.
    package let context: Context?

    /// Values that a message lacks, from a measurement at most 10 ms earlier.
    package struct Context: Hashable, Sendable {
        package var milliseconds: UInt32
        package var level: PDLevel
    }

    /// Codes of the ordered sets before a message, with the addressee (`PDMessage.sop`): E0 SOP, C0 SOP', A0 SOP''. For
    /// debug accessories, the addressee is the code itself (happyme531/WITRN_HID_WEB public/python/witrnhid/core.py).
    private static let addressees: [UInt8: UInt8] = [0xE0: 0, 0xC0: 1, 0xA0: 2, 0x80: 0x80, 0x60: 0x60]
    /// Codes of a hard reset and a cable reset, which no message follows. Unverified, from one program (KHWLGH/WITRN-RS
    /// crates/witrn-hid/src/device.rs).
    private static let resets: Set<UInt8> = [0x40, 0x20]

    /// - Parameter report: 64 bytes.
    /// - Returns: nil if length, ordered set and header contradict each other, or if a measurement report starts after
    ///   the message: `report` is then the end of a damaged report.
    package init?(_ report: UnsafeRawBufferPointer, context: Context?) {
        guard report.count == WITRNReport.length, report.u8(0) == Self.startMark else { return nil }
        // The length counts from byte 2, the ordered set.
        let end = 2 + Int(report.u8(1))
        guard end > 2, end <= report.count else { return nil }
        orderedSet = report.u8(2)
        bytes = Array(report[3..<end])
        self.context = context
        guard Self.addressees[orderedSet] != nil ? isWhole : Self.resets.contains(orderedSet) && bytes.isEmpty else {
            return nil
        }
        guard !Self.holdsReport(report[end...]) else { return nil }
    }

    private var isWhole: Bool {
        guard let header = PDMessage(bytes: bytes).header else { return false }
        let inObjects = PDHeader.length + 4 * header.objectCount
        guard header.isExtended, header.objectCount == 0 else { return bytes.count == inObjects }
        // In an unchunked extended message the object count is 0; the second header contains the length in bytes.
        return bytes.count >= PDHeader.length + 2
    }

    /// Returns whether these bytes contain the start of a measurement report, even if truncated.
    private static func holdsReport(_ rest: Slice<UnsafeRawBufferPointer>) -> Bool {
        rest.indices.dropLast().contains { place in
            guard rest[place] == WITRNReport.startMark.0, rest[place + 1] == WITRNReport.startMark.1 else {
                return false
            }
            return place + 8 >= rest.endIndex || rest[place + 8] == WITRNReport.measurement
        }
    }

    private var message: PDMessage? {
        Self.addressees[orderedSet].map { PDMessage(sop: $0, bytes: bytes) }
    }

    /// Nil, because only the USB ids identify the model.
    package var model: ModelName? { nil }

    package func forEachReading(_ body: (Reading) -> Void) {}

    /// The message as a report; nil for a reset, or before the first measurement.
    package var powerDelivery: PDReport? {
        guard let message, let context else { return nil }
        let event = PDEvent(milliseconds: context.milliseconds, kind: .message(message))
        return PDReport(milliseconds: context.milliseconds, level: context.level, events: [event])
    }

    package var details: [FrameDetail] {
        guard let message else { return [FrameDetail("pd_ordered_set", .text(Hex.encode([orderedSet])))] }
        let text = PDEvent.Kind.message(message).description
        return [FrameDetail("pd_event_1", .text(context.map { "\($0.milliseconds) ms \(text)" } ?? text))]
    }
}
