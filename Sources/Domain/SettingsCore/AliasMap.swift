/// Resolves aliases of meter ids, equally on hosts and in the cloud.
package enum AliasMap {
    /// - Parameter direct: target of each alias, perhaps an alias too. Ids in a circle resolve to the smallest.
    /// - Returns: final id of each alias.
    package static func flattened<ID: Hashable & Comparable>(_ direct: [ID: ID]) -> [ID: ID] {
        var meanings: [ID: ID] = [:]
        for start in direct.keys where meanings[start] == nil {
            let (path, meaning) = follow(start, direct, known: meanings)
            for id in path { meanings[id] = meaning }
        }
        return meanings.filter { $0.key != $0.value }
    }

    /// Returns the present id for each former id and alias of a host's meters.
    ///
    /// - Parameters:
    ///   - former: each former id with its present id.
    ///   - aliases: result of `flattened`.
    package static func mainIDs<ID: Hashable>(former: [ID: ID], aliases: [ID: ID]) -> [ID: ID] {
        former.mapValues { aliases[$0] ?? $0 }.merging(aliases) { own, _ in own }
    }

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
