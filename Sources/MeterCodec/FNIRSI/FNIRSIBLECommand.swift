/// A command to a FNIRSI meter over Bluetooth LE, framed like the meter's frames
/// (Docs/Protocols/FNIRSI.md#bluetooth-le). Commands 86 to 8A are omitted: their only source is another program's
/// guess.
package enum FNIRSIBLECommand: UInt8, CaseIterable, Sendable {
    /// Requests the model; the answer is a frame of type 03.
    case info = 0x81
    case start = 0x82
    case stop = 0x84
    case status = 0x85

    package var bytes: [UInt8] {
        let head = [FNIRSIBLEFrame.startMark, rawValue, 0]
        return head + [FNIRSIBLEFrame.check(head)]
    }
}
