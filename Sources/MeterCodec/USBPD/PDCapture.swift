import Domain

/// Writes a timeline as a pcapng file (draft-ietf-opsawg-pcapng) for Wireshark.
///
/// USB Power Delivery has no link type (the-tcpdump-group/libpcap, issue 1036, open since 2021; IANA's registry of
/// 2026-04-14). The packets use a private one, which Wireshark decodes with Docs/Examples/usb-pd.lua.
///
/// A packet contains the addressee (0 for SOP, 1 for SOP', 2 for SOP'') and a message without its checksum, or 255 and
/// the text of another event. Its comment contains the meter's measurements.
package enum PDCapture {
    /// Link type LINKTYPE_USER0 (libpcap, pcap/dlt.h, DLT_USER0).
    static let linkType: UInt16 = 147
    /// First byte of a packet with text.
    static let noteMark: UInt8 = 0xFF

    package static func file(of entries: some Sequence<PDEntry>) -> [UInt8] {
        var bytes = sectionHeader + interface
        for entry in entries { bytes += packet(entry) }
        return bytes
    }

    /// Section header block: version 1.0, little-endian, of unknown length.
    private static let sectionHeader: [UInt8] = {
        var body: [UInt8] = []
        body.appendLE(UInt32(0x1A2B_3C4D))
        body.appendLE(UInt16(1))
        body.appendLE(UInt16(0))
        body += [UInt8](repeating: 0xFF, count: 8)
        return block(0x0A0D_0D0A, body + endOfOptions)
    }()

    /// Interface description block: packets of any length, times in milliseconds (if_tsresol, 10^-3).
    private static let interface: [UInt8] = {
        var body: [UInt8] = []
        body.appendLE(linkType)
        body.appendLE(UInt16(0))
        body.appendLE(UInt32(0))
        return block(1, body + option(2, Array("CC line".utf8)) + option(9, [3]) + endOfOptions)
    }()

    private static func packet(_ entry: PDEntry) -> [UInt8] {
        let data: [UInt8] =
            if case .message(let heard) = entry.kind {
                [heard.message.sop == noteMark ? noteMark - 1 : heard.message.sop] + heard.message.bytes
            } else { [noteMark] + Array(entry.words.utf8) }
        let level = entry.level
        let comment =
            "VBUS \(Thousandths(level.voltage_mV)) V, CC1 \(Thousandths(level.cc1_mV)) V, CC2 \(Thousandths(level.cc2_mV)) V"
        let time = UInt64(clamping: entry.time.millisecondsSince1970)
        var body: [UInt8] = []
        body.appendLE(UInt32(0))
        body.appendLE(UInt32(truncatingIfNeeded: time >> 32))
        body.appendLE(UInt32(truncatingIfNeeded: time))
        body.appendLE(UInt32(clamping: data.count))
        body.appendLE(UInt32(clamping: data.count))
        return block(6, body + filled(data) + option(1, Array(comment.utf8)) + endOfOptions)
    }

    private static func block(_ type: UInt32, _ body: [UInt8]) -> [UInt8] {
        var bytes: [UInt8] = []
        let length = UInt32(clamping: body.count + 12)
        bytes.appendLE(type)
        bytes.appendLE(length)
        bytes += body
        bytes.appendLE(length)
        return bytes
    }

    private static func option(_ code: UInt16, _ value: [UInt8]) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.appendLE(code)
        bytes.appendLE(UInt16(clamping: value.count))
        return bytes + filled(value)
    }

    private static let endOfOptions: [UInt8] = [0, 0, 0, 0]

    private static func filled(_ bytes: [UInt8]) -> [UInt8] {
        bytes + [UInt8](repeating: 0, count: (4 - bytes.count % 4) % 4)
    }
}
