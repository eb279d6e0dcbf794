import Domain

/// Ids that stand for other meters, and where devices are sighted under them now.
final class LocalAliases {
    /// Main ids of meters by alias.
    private(set) var mainIDs: [MeterID: MeterID] = [:]
    private var sightings: [LinkAddress: Sighting] = [:]

    /// The meter that has this id as an alias.
    func meter(of alias: MeterID) -> MeterID? { mainIDs[alias] }

    /// The main id of the meter that an id stands for.
    func canonical(_ id: MeterID) -> MeterID { mainIDs[id] ?? id }

    func update(_ mainIDs: [MeterID: MeterID]) { self.mainIDs = mainIDs }

    func appeared(_ sighting: Sighting) { sightings[sighting.link] = sighting }

    func vanished(from link: LinkAddress) { sightings[link] = nil }

    /// What is sighted under an id.
    func sightings(of alias: MeterID) -> [Sighting] { sightings.values.filter { $0.id == alias } }
}
