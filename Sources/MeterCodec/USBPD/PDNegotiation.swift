/// What a sink asks for: an object of four bytes (USB PD specification 3.1, 6.4.2). The meaning of its other bits
/// depends on the object that it points to.
package struct PDRequest: Hashable, Sendable {
    package let word: UInt32

    package init(word: UInt32) { self.word = word }

    /// The number of the source's object, from 1.
    package var position: Int { Int(word >> 28) }

    /// The contract that results if the source, which offers this object at that position, accepts.
    package func contract(on offer: PDSourceObject) -> PDContract {
        let operating = Int(word >> 10 & 0x3FF)
        return switch offer {
        case .fixed(let volts, _):
            PDContract(offer: offer, position: position, voltage_mV: volts, current_mA: operating * 10)
        case .variable:
            PDContract(offer: offer, position: position, voltage_mV: nil, current_mA: operating * 10)
        case .programmable:
            PDContract(
                offer: offer, position: position, voltage_mV: Int(word >> 9 & 0xFFF) * 20,
                current_mA: Int(word & 0x7F) * 50)
        case .adjustable, .extendedAdjustable:
            PDContract(
                offer: offer, position: position, voltage_mV: Int(word >> 9 & 0xFFF) * 25,
                current_mA: Int(word & 0x7F) * 50)
        case .battery, .unknown:
            PDContract(offer: offer, position: position, voltage_mV: nil, current_mA: nil)
        }
    }
}

/// What source and sink agreed on.
package struct PDContract: Hashable, Sendable {
    package let offer: PDSourceObject
    /// The number of the source's object, from 1.
    package let position: Int
    /// Nil if the source chooses it.
    package let voltage_mV: Int?
    /// The current that the sink intends to draw. Nil if it asked for power instead.
    package let current_mA: Int?
}

extension PDContract: CustomStringConvertible {
    package var description: String {
        let wanted = [
            voltage_mV.map { "\(Thousandths($0)) V" }, current_mA.map { "\(Thousandths($0)) A" },
        ].compactMap { $0 }.joined(separator: " ")
        return "\(wanted.isEmpty ? "" : "\(wanted) of ")object \(position), \(offer)"
    }
}

/// Follows the messages between source and sink, to know what they last agreed on.
///
/// It hears every message of both, perhaps twice, since one that is not acknowledged is sent again. It misses some,
/// since a meter keeps only the latest.
package struct PDNegotiation: Sendable {
    private var offers: [PDSourceObject] = []
    /// What will be agreed on if the source accepts.
    private var asked: PDContract?
    /// Nil while nothing is agreed on, or none of it was heard.
    package private(set) var contract: PDContract?

    package init() {}

    package mutating func heard(_ message: PDMessage) {
        // Cables take no part in it.
        guard message.sop == 0, let header = message.header else { return }
        switch (header.kind, header.type) {
        case (.data, PDHeader.sourceCapabilities):
            offers = message.sourceCapabilities
            asked = nil
        case (.data, PDHeader.request):
            asked = message.objects.first.flatMap { word in
                let request = PDRequest(word: word)
                return offers.indices.contains(request.position - 1)
                    ? request.contract(on: offers[request.position - 1]) : nil
            }
        case (.data, PDHeader.extendedRangeRequest):
            // It repeats the object that it points to.
            let objects = message.objects
            guard objects.count == 2 else { return }
            asked = PDRequest(word: objects[0]).contract(on: PDSourceObject(word: objects[1]))
        case (.control, PDHeader.accept):
            // An accept may also answer a swap or a reset, in which case nothing was requested.
            if let asked { contract = asked }
            asked = nil
        case (.control, PDHeader.reject), (.control, PDHeader.wait), (.control, PDHeader.softReset):
            asked = nil
        default:
            break
        }
    }

    /// Forgets the contract, because the plug was pulled or put in.
    package mutating func reset() { self = PDNegotiation() }
}
