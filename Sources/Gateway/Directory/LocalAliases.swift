import Domain

final class LocalAliases {
    /// Current ids by former id.
    var former: [MeterID: MeterID] = [:]
    /// Main ids by alias or former id.
    private(set) var mainIDs: [MeterID: MeterID] = [:]
    private var sightings: [LinkAddress: Sighting] = [:]

    func meter(of alias: MeterID) -> MeterID? { mainIDs[alias] }

    func canonical(_ id: MeterID) -> MeterID { mainIDs[id] ?? id }

    func update(_ shared: [MeterID: MeterID]) {
        mainIDs = AliasMap.mainIDs(former: former, aliases: shared)
    }

    func appeared(_ sighting: Sighting) { sightings[sighting.link] = sighting }

    func vanished(from link: LinkAddress) { sightings[link] = nil }

    func sightings(of alias: MeterID) -> [Sighting] { sightings.values.filter { $0.id == alias } }
}
