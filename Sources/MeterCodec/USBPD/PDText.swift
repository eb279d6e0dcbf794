package import Domain

package enum PDText {
    /// Returns the contract, the offers and the entries after number `after`, as lines with line ends.
    package static func lines(_ timeline: PDTimeline, after: Int = 0, of meter: MeterID) -> [String] {
        var lines = ["USB Power Delivery heard by \(meter)\n"]
        if timeline.dropped > after { lines.append("\(timeline.dropped - after) older entries were dropped\n") }
        if let contract = timeline.contract { lines.append("contract: \(contract)\n") }
        lines += objects(timeline.offers)
        lines.append("\n")
        for entry in timeline.entries(after: after) { lines += text(of: entry) }
        return lines
    }

    private static func text(of entry: PDEntry) -> [String] {
        let volts = "\(Thousandths(entry.level.voltage_mV)) V".padded(to: 9)
        let start = "\(entry.time) \(volts) "
        guard case .message(let heard) = entry.kind else { return [start + "-- \(entry.words)\n"] }
        let message = heard.message
        var who = message.sopName
        if let (sender, receiver) = message.parties { who += " \(sender.rawValue) > \(receiver.rawValue)" }
        let number = message.header.map { "#\($0.id)" } ?? ""
        let again = heard.isResent ? " (again)" : ""
        let more = entry.until.map { " (\(entry.more) more until \($0))" } ?? ""
        let line =
            start + "\(who.padded(to: 20)) \(number) \(entry.words)\(again)\(more) [\(Hex.encode(message.bytes))]\n"
        return [line] + objects(heard.meaning.offers)
    }

    private static func objects(_ offers: [PDOffer]) -> [String] {
        offers.map { offer in
            let abilities = offer.abilities.isEmpty ? "" : " (\(offer.abilities.joined(separator: ", ")))"
            return "    object \(offer.position): \(offer)\(abilities)\n"
        }
    }
}

extension String {
    fileprivate func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
}
