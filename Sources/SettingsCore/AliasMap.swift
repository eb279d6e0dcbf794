/// What ids mean where some are said to be other ids of a meter: the one rule of hosts and cloud.
package enum AliasMap {
    /// Each id that means another one, with that one, in one hop.
    ///
    /// - Parameter direct: each alias, and the id that it is said to mean, which may be an alias too. Where they lead
    ///   round in a circle, all mean the smallest id in it.
    package static func flattened<ID: Hashable & Comparable>(_ direct: [ID: ID]) -> [ID: ID] {
        var meanings: [ID: ID] = [:]
        for start in direct.keys where meanings[start] == nil {
            let (path, meaning) = follow(start, direct, known: meanings)
            for id in path { meanings[id] = meaning }
        }
        return meanings.filter { $0.key != $0.value }
    }

    /// - Returns: the aliases on the way, and what they all mean.
    private static func follow<ID: Hashable & Comparable>(
        _ start: ID, _ direct: [ID: ID], known: [ID: ID]
    ) -> (path: [ID], meaning: ID) {
        var path: [ID] = []
        var places: [ID: Int] = [:]
        var id = start
        while let next = direct[id] {
            if let meaning = known[id] { return (path, meaning) }
            if let place = places[id] { return (path, path[place...].min() ?? id) }
            places[id] = path.count
            path.append(id)
            id = next
        }
        return (path, id)
    }
}
