package import Domain

/// The links that lead to one meter now, and which of them to try next. A value without a clock.
///
/// A cable comes before a radio and LE before Classic, unless a person asked for one kind; of two adapters that hear
/// the same radio, the one that hears it louder; of two equal ones, the one that appeared last. A link that fails makes
/// way for the next, in turn, and one that brought data is tried first again.
package struct LinkChoice: Sendable {
    private struct Entry {
        var link: LinkAddress
        var rssi: Int?
        /// Attempts that failed since the link last brought data.
        var failures = 0
    }

    private var entries: [Entry] = []

    package init() {}

    /// The kind of link that a person asked for. Others are used only while there is no link of this kind.
    package var preferred: LinkAddress.Transport?

    package var isEmpty: Bool { entries.isEmpty }

    /// Every link, the next to be tried first.
    package var inOrder: [LinkAddress] { sorted.map(\.link) }

    /// The next link to be tried, if there is any.
    package var next: LinkAddress? { sorted.first?.link }

    /// Signal strength, in dBm, when the radio at the other end of a link was last heard.
    package func rssi(of link: LinkAddress) -> Int? { entries.first { $0.link == link }?.rssi }

    package mutating func appeared(_ link: LinkAddress, rssi: Int?) {
        if let index = index(of: link) {
            entries[index].rssi = rssi ?? entries[index].rssi
        } else {
            entries.append(Entry(link: link, rssi: rssi))
        }
    }

    package mutating func heard(_ link: LinkAddress, rssi: Int?) {
        guard let index = index(of: link) else { return }
        entries[index].rssi = rssi
    }

    /// - Returns: whether the link was there.
    package mutating func vanished(_ link: LinkAddress) -> Bool {
        guard let index = index(of: link) else { return false }
        entries.remove(at: index)
        return true
    }

    package mutating func failed(_ link: LinkAddress?) {
        guard let link, let index = index(of: link) else { return }
        entries[index].failures += 1
        // Only differences matter, so the least count is subtracted: nothing overflows even if every link fails for
        // years.
        guard let fewest = entries.map(\.failures).min(), fewest > 0 else { return }
        for index in entries.indices { entries[index].failures -= fewest }
    }

    package mutating func broughtData(_ link: LinkAddress?) {
        guard let link else { return }
        for index in entries.indices { entries[index].failures = entries[index].link == link ? 0 : 1 }
    }

    /// Forgets failures: somebody wants an attempt now, in the usual order.
    package mutating func beginAnew() {
        for index in entries.indices { entries[index].failures = 0 }
    }

    private var sorted: [Entry] {
        entries.enumerated().sorted { first, second in
            let ranks = (rank(first.element), rank(second.element))
            return ranks.0 == ranks.1 ? first.offset > second.offset : ranks.0.lexicographicallyPrecedes(ranks.1)
        }.map(\.element)
    }

    /// The sort key; the smallest comes first.
    private func rank(_ entry: Entry) -> [Int] {
        let transport = entry.link.transport
        return [
            preferred == nil || preferred == transport ? 0 : 1, entry.failures,
            LinkAddress.Transport.allCases.firstIndex(of: transport) ?? 0, -(entry.rssi ?? -127),
        ]
    }

    private func index(of link: LinkAddress) -> Int? { entries.firstIndex { $0.link == link } }
}
