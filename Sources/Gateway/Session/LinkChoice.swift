package import Domain

/// Available links to one meter, in the order in which to try them: the preferred kind, then fewer failures, then cable
/// and network before LE before Classic, then the stronger signal, then the newer link.
package struct LinkChoice: Sendable {
    private struct Entry {
        var link: LinkAddress
        var rssi: Int?
        /// Failed attempts since the link last delivered data.
        var failures = 0
    }

    private var entries: [Entry] = []

    package init() {}

    /// Preferred kind of link. Other kinds are used only while no link of this kind exists.
    package var preferred: LinkAddress.Transport?

    package var isEmpty: Bool { entries.isEmpty }

    package var inOrder: [LinkAddress] { sorted.map(\.link) }

    package var next: LinkAddress? { sorted.first?.link }

    /// Returns the last signal strength in dBm; nil if unknown.
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

    package mutating func vanished(_ link: LinkAddress) -> Bool {
        guard let index = index(of: link) else { return false }
        entries.remove(at: index)
        return true
    }

    package mutating func failed(_ link: LinkAddress?) {
        guard let link, let index = index(of: link) else { return }
        entries[index].failures += 1
        // Only the differences between counts matter, so subtract the smallest: counts cannot overflow after years.
        guard let fewest = entries.map(\.failures).min(), fewest > 0 else { return }
        for index in entries.indices { entries[index].failures -= fewest }
    }

    package mutating func broughtData(_ link: LinkAddress?) {
        guard let link else { return }
        for index in entries.indices { entries[index].failures = entries[index].link == link ? 0 : 1 }
    }

    /// Resets the failure counts, because a user requested a connection.
    package mutating func beginAnew() {
        for index in entries.indices { entries[index].failures = 0 }
    }

    private var sorted: [Entry] {
        entries.enumerated().sorted { first, second in
            let ranks = (rank(first.element), rank(second.element))
            return ranks.0 == ranks.1 ? first.offset > second.offset : ranks.0.lexicographicallyPrecedes(ranks.1)
        }.map(\.element)
    }

    private func rank(_ entry: Entry) -> [Int] {
        let transport = entry.link.transport
        return [
            preferred == nil || preferred == transport ? 0 : 1, entry.failures,
            LinkAddress.Transport.allCases.firstIndex(of: transport) ?? 0, -(entry.rssi ?? -127),
        ]
    }

    private func index(of link: LinkAddress) -> Int? { entries.firstIndex { $0.link == link } }
}
