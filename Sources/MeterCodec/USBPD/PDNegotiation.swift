/// A sink's request: an object of four bytes (USB PD specification 3.1, 6.4.2; Linux, include/linux/usb/pd.h, RDO_…).
/// The meaning of the lower bits depends on the requested offer.
package struct PDRequest: Hashable, Sendable {
    package let word: UInt32

    package init(word: UInt32) { self.word = word }

    /// Number of the requested offer in the source's list, from 1.
    package var position: Int { Int(word >> 28) }

    /// Whether none of the source's offers satisfies the sink.
    var isMismatched: Bool { word >> 26 & 1 == 1 }

    /// Returns the contract if the source accepts this request for `offer`.
    package func contract(on offer: PDSourceObject) -> PDContract {
        let operating = Int(word >> 10 & 0x3FF)
        return switch offer {
        case .fixed(let volts, _):
            PDContract(offer: offer, position: position, voltage_mV: volts, current_mA: operating * 10)
        case .variable:
            PDContract(offer: offer, position: position, current_mA: operating * 10)
        case .battery:
            PDContract(offer: offer, position: position, power_mW: operating * 250)
        case .programmable:
            PDContract(
                offer: offer, position: position, voltage_mV: Int(word >> 9 & 0xFFF) * 20,
                current_mA: Int(word & 0x7F) * 50)
        case .adjustable, .extendedAdjustable:
            PDContract(
                offer: offer, position: position, voltage_mV: Int(word >> 9 & 0xFFF) * 25,
                current_mA: Int(word & 0x7F) * 50)
        case .unknown:
            PDContract(offer: offer, position: position)
        }
    }
}

package struct PDContract: Hashable, Sendable {
    package let offer: PDSourceObject
    /// Number of the offer in the source's list, from 1.
    package let position: Int
    /// Requested voltage in millivolts; nil if the source chooses the voltage.
    package let voltage_mV: Int?
    /// Current in milliamperes that the sink intends to draw; nil if it requested power.
    package let current_mA: Int?
    /// Power in milliwatts that the sink intends to draw from a battery supply; nil for other supplies.
    package let power_mW: Int?

    package init(
        offer: PDSourceObject, position: Int, voltage_mV: Int? = nil, current_mA: Int? = nil, power_mW: Int? = nil
    ) {
        self.offer = offer
        self.position = position
        self.voltage_mV = voltage_mV
        self.current_mA = current_mA
        self.power_mW = power_mW
    }
}

extension PDContract: CustomStringConvertible {
    package var description: String {
        let wanted = [
            voltage_mV.map { "\(Thousandths($0)) V" }, current_mA.map { "\(Thousandths($0)) A" },
            power_mW.map { "\(Thousandths($0)) W" },
        ].compactMap { $0 }.joined(separator: " ")
        return "\(wanted.isEmpty ? "" : "\(wanted) of ")object \(position), \(offer)"
    }
}

/// Derives the contract from the messages between source and sink. Messages may be repeated, because senders repeat
/// unacknowledged ones, or missing, because a meter stores few.
package struct PDNegotiation: Sendable {
    package private(set) var offers: [PDOffer] = []
    /// Requested contract that the source has not answered yet.
    private var asked: PDContract?
    /// Current contract; nil if there is none or the meter missed its messages.
    package private(set) var contract: PDContract?
    private var chunks = PDChunks()

    package init() {}

    /// Returns the complete list of extended-range offers after its last chunk; nil after any other message.
    @discardableResult
    package mutating func heard(_ message: PDMessage) -> [PDOffer]? {
        guard message.sop == 0, let header = message.header else { return nil }
        switch (header.kind, header.type) {
        case (.data, PDHeader.sourceCapabilities):
            offers = message.sourceCapabilities
            asked = nil
        case (.extended, PDHeader.extendedRangeSourceCapabilities):
            guard let data = chunks.add(message) else { return nil }
            offers = PDOffer.all(in: data.words)
            asked = nil
            return offers
        case (.data, PDHeader.request):
            asked = message.objects.first.flatMap { word in
                let request = PDRequest(word: word)
                return offers.first { $0.position == request.position }.map { request.contract(on: $0.object) }
            }
        case (.data, PDHeader.extendedRangeRequest):
            asked = message.extendedRangeContract
        case (.control, PDHeader.accept):
            // An accept may also answer a swap or a reset; `asked` is then nil.
            if let asked { contract = asked }
            asked = nil
        case (.control, PDHeader.reject), (.control, PDHeader.wait), (.control, PDHeader.softReset):
            asked = nil
        default:
            break
        }
        return nil
    }

    package mutating func reset() { self = PDNegotiation() }
}

extension PDMessage {
    /// Contract of an extended-range request, which repeats the offer; nil for any other message.
    var extendedRangeContract: PDContract? {
        guard let header, header.kind == .data, header.type == PDHeader.extendedRangeRequest,
            case let objects = objects, objects.count == 2
        else { return nil }
        return PDRequest(word: objects[0]).contract(on: PDSourceObject(word: objects[1]))
    }
}

extension [UInt8] {
    var words: [UInt32] {
        withUnsafeBytes { raw in stride(from: 0, through: raw.count - 4, by: 4).map(raw.u32LE) }
    }
}
