/// A command to a FNIRSI meter on USB: 64 bytes of AA, the command, zeros, and a CRC-8 over bytes 1-62
/// (Docs/Protocols/FNIRSI.md#commands).
package enum FNIRSIUSBCommand: UInt8, CaseIterable, Sendable {
    /// Requests the model; the answer is a packet of type 03. Optional.
    case hello = 0x81
    /// Starts or continues the stream for one second from now.
    case start = 0x82
    /// Continues the stream for one more second, unless it has stopped.
    case keepOn = 0x83

    /// HID report without a report ID.
    package var bytes: [UInt8] {
        var packet = [FNIRSIUSBPacket.startMark, rawValue] + [UInt8](repeating: 0, count: FNIRSIUSBPacket.length - 2)
        packet[FNIRSIUSBPacket.length - 1] = packet.withUnsafeBytes { FNIRSIUSBPacket.check($0) }
        return packet
    }
}
