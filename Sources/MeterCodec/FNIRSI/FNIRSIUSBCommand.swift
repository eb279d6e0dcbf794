/// A command to a FNIRSI meter on USB: 64 bytes of AA, the command, zeros, and a CRC-8 over bytes 1-62
/// (Docs/Protocols/FNIRSI.md#commands).
package enum FNIRSIUSBCommand: UInt8, CaseIterable, Sendable {
    /// Requests the model; answered by a packet of type 03. The stream works without it.
    case hello = 0x81
    /// Streams for one second from now, whether the meter is streaming or not.
    case start = 0x82
    /// Streams for one more second; a meter that has stopped ignores it.
    case keepOn = 0x83

    /// The command as a HID report, without a report id.
    package var bytes: [UInt8] {
        var packet = [FNIRSIUSBPacket.startMark, rawValue] + [UInt8](repeating: 0, count: FNIRSIUSBPacket.length - 2)
        packet[FNIRSIUSBPacket.length - 1] = packet.withUnsafeBytes { FNIRSIUSBPacket.check($0) }
        return packet
    }
}
