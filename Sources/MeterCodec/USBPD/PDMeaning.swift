import Domain

/// Description of a message in words, with bytes for parts of unknown meaning.
package struct PDMeaning: Hashable, Sendable {
    /// Description in one line; nil if the name is sufficient or the meaning unknown.
    package let words: String?
    /// Offers in a list of capabilities; empty for any other message.
    package let offers: [PDOffer]

    /// - Parameter offers: the source's last offers, to which a request refers by number.
    package init(of message: PDMessage, offers: [PDOffer]) {
        let listed = message.sourceCapabilities + message.sinkCapabilities
        self.offers = listed
        guard let header = message.header else {
            words = message.bytes.isEmpty ? "without a header" : Hex.encode(message.bytes)
            return
        }
        words =
            switch header.kind {
            case .control: Self.controls[header.type] ?? Self.rest(message.bytes.dropFirst(PDHeader.length))
            case .data: Self.data(message, header, listed, offers)
            case .extended: Self.extended(message, header)
            }
    }

    init(list: [PDOffer]) {
        offers = list
        words = Self.text(list)
    }

    private static let controls: [UInt8: String] = [
        2: "draw no more than you must", 3: "agreed", 4: "refused", 6: "the supply is ready",
        7: "what do you offer?", 8: "what would you like?", 9: "let us swap data roles", 10: "let us swap power roles",
        11: "let us swap who feeds the cable", 12: "ask again later", 13: "both begin anew", 16: "not understood",
        17: "what else do you offer?", 18: "how are you?", 20: "how is the programmable supply?",
        22: "what else would you like?", 24: "which revision do you speak?",
    ]

    private static func data(
        _ message: PDMessage, _ header: PDHeader, _ listed: [PDOffer], _ offers: [PDOffer]
    ) -> String? {
        let objects = message.objects
        switch header.type {
        case PDHeader.sourceCapabilities, PDHeader.sinkCapabilities:
            return text(listed)
        case PDHeader.request:
            guard let word = objects.first else { return nil }
            return text(PDRequest(word: word), offers)
        case PDHeader.extendedRangeRequest:
            guard let contract = message.extendedRangeContract else { return hex(objects) }
            return contract.description
        case PDHeader.extendedRangeMode:
            return objects.first.flatMap(text(mode:))
        case PDHeader.vendorDefined:
            return text(vendorDefined: objects)
        default:
            return hex(objects)
        }
    }

    private static func text(_ list: [PDOffer]) -> String {
        let abilities = list.first?.abilities ?? []
        let objects = list.map(\.description).joined(separator: ", ")
        return abilities.isEmpty ? objects : "\(objects) (\(abilities.joined(separator: ", ")))"
    }

    private static func text(_ request: PDRequest, _ offers: [PDOffer]) -> String {
        let words =
            offers.first { $0.position == request.position }.map { request.contract(on: $0.object).description }
            ?? "object \(request.position)"
        return request.isMismatched ? "\(words) (none is enough)" : words
    }

    /// Describes an EPR_Mode message (elagil/usbpd, usbpd/src/protocol_layer/message/data/epr_mode.rs).
    private static func text(mode word: UInt32) -> String? {
        let data = UInt8(truncatingIfNeeded: word >> 16)
        switch word >> 24 {
        case 1: return data == 0 ? "enter" : "enter, for \(data) W"
        case 2: return "enter: heard"
        case 3: return "enter: done"
        case 4: return "enter: failed, \(failures.indices.contains(Int(data)) ? failures[Int(data)] : "cause \(data)")"
        case 5: return "exit"
        default: return hex([word])
        }
    }

    private static let failures = [
        "no cause given", "the cable is not made for it", "the source could not feed the cable",
        "the request did not want it", "the source cannot now", "the source does not offer it",
    ]

    /// Describes a vendor-defined message. A structured one contains a command (Linux, include/linux/usb/pd_vdo.h);
    /// other formats are the vendor's own.
    private static func text(vendorDefined objects: [UInt32]) -> String? {
        guard let word = objects.first else { return nil }
        let vendor = Hex.encode([UInt8(truncatingIfNeeded: word >> 24), UInt8(truncatingIfNeeded: word >> 16)])
        let rest = hex(Array(objects.dropFirst()))
        guard word & 0x8000 != 0 else {
            return ["vendor \(vendor)", hex([word & 0xFFFF]), rest].compactMap { $0 }.joined(separator: ", ")
        }
        let number = Int(word & 0x1F)
        let command = commands.indices.contains(number - 1) ? commands[number - 1] : "command \(number)"
        let answer = ["", " ACK", " NAK", " BUSY"][Int(word >> 6 & 3)]
        let who = vendor.lowercased() == "ff00" ? nil : "vendor \(vendor)"
        return [command + answer, who, rest].compactMap { $0 }.joined(separator: ", ")
    }

    private static let commands = [
        "Discover Identity", "Discover SVIDs", "Discover Modes", "Enter Mode", "Exit Mode", "Attention",
    ]

    private static func extended(_ message: PDMessage, _ header: PDHeader) -> String? {
        guard let chunk = message.chunk else { return rest(message.bytes.dropFirst(PDHeader.length)) }
        if chunk.isRequest { return "send chunk \(chunk.number)" }
        let bytes = message.chunkBytes.prefix(chunk.dataSize)
        if header.type == PDHeader.extendedControl, let first = bytes.first {
            let number = Int(first)
            return extendedControls.indices.contains(number - 1) ? extendedControls[number - 1] : rest(bytes)
        }
        if chunk.number == 0, chunk.dataSize <= PDChunks.bytesMax { return rest(bytes) }
        return ["chunk \(chunk.number) of \(chunk.dataSize) bytes", rest(message.chunkBytes)].compactMap { $0 }
            .joined(separator: ", ")
    }

    /// Names of extended control messages by number, from 1 (elagil/usbpd,
    /// usbpd/src/protocol_layer/message/extended/extended_control.rs).
    private static let extendedControls = [
        "EPR_Get_Source_Cap", "EPR_Get_Sink_Cap", "EPR_KeepAlive", "EPR_KeepAlive_Ack",
    ]

    private static func hex(_ words: [UInt32]) -> String? {
        words.isEmpty ? nil : words.map { Hex.encode([UInt8](littleEndian: $0)) }.joined(separator: " ")
    }

    private static func rest(_ bytes: ArraySlice<UInt8>) -> String? { bytes.isEmpty ? nil : Hex.encode(Array(bytes)) }
}

extension [UInt8] {
    fileprivate init(littleEndian word: UInt32) {
        self = []
        appendLE(word)
    }
}
