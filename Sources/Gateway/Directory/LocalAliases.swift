import Domain

/// Aliases and former ids of meters, with the current sightings under these ids.
final class LocalAliases {
    /// Former ids of this host's meters, with the present ones.
    var former: [MeterID: MeterID] = [:]
    /// Main ids of meters by alias or former id.
    private(set) var mainIDs: [MeterID: MeterID] = [:]
    private var sightings: [LinkAddress: Sighting] = [:]

    func meter(of alias: MeterID) -> MeterID? { mainIDs[alias] }

    /// Returns the main id, or the id itself if it is no alias.
    func canonical(_ id: MeterID) -> MeterID { mainIDs[id] ?? id }

    /// - Parameter shared: the zone's aliases.
    func update(_ shared: [MeterID: MeterID]) {
        mainIDs = AliasMap.mainIDs(former: former, aliases: shared)
    }

    func appeared(_ sighting: Sighting) { sightings[sighting.link] = sighting }

    func vanished(from link: LinkAddress) { sightings[link] = nil }

    func sightings(of alias: MeterID) -> [Sighting] { sightings.values.filter { $0.id == alias } }
}
