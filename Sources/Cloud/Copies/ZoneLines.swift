/// Waiting elements, oldest first in each zone; zones are served in turn. A full queue drops the oldest element of the
/// zone with the most elements.
struct ZoneLines<Element> {
    private var lines: [String: [Element]] = [:]
    private var count = 0
    private var turn = 0

    var isEmpty: Bool { count == 0 }

    /// - Parameter dropping: number of oldest elements that the fullest zone loses when `max` is exceeded.
    mutating func add(_ element: Element, of zone: String, max: Int, dropping: Int = 1) -> [Element] {
        lines[zone, default: []].append(element)
        count += 1
        guard count > max, let fullest = lines.max(by: { ($0.value.count, $0.key) < ($1.value.count, $1.key) })?.key
        else { return [] }
        return remove(dropping, of: fullest)
    }

    /// Removes and returns up to `limit` elements: the oldest of each zone, then the second oldest of each zone, and so
    /// on.
    ///
    /// - Parameter fits: whether there is room for the element. The first element is returned in any case.
    mutating func take(upTo limit: Int, where fits: (Element) -> Bool = { _ in true }) -> [Element] {
        let zones = lines.keys.sorted()
        turn &+= 1
        let first = zones.isEmpty ? 0 : turn % zones.count
        var taken: [Element] = []
        var numbers: [String: Int] = [:]
        rounds: for rank in 0..<limit {
            let before = taken.count
            for zone in zones[first...] + zones[..<first] {
                guard let line = lines[zone], rank < line.count else { continue }
                guard taken.count < limit, fits(line[rank]) || taken.isEmpty else { break rounds }
                taken.append(line[rank])
                numbers[zone] = rank + 1
            }
            if taken.count == before { break }
        }
        for (zone, number) in numbers { _ = remove(number, of: zone) }
        return taken
    }

    private mutating func remove(_ number: Int, of zone: String) -> [Element] {
        let removed = (lines[zone] ?? []).prefix(number)
        lines[zone]?.removeFirst(removed.count)
        if lines[zone]?.isEmpty == true { lines[zone] = nil }
        count -= removed.count
        return Array(removed)
    }
}
