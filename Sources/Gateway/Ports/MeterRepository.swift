package import MeterModel

/// What this host remembers of meters, over restarts.
package protocol MeterRepository: Sendable {
    func meters() async throws -> [KnownMeter]
    /// Inserts or replaces by id.
    func save(_ meter: KnownMeter) async throws
    /// It is known no more. Harmless for one that is not there.
    func forget(_ meter: MeterID) async throws
    /// What meters of this host are called now that had another id before, by that.
    func formerIDs() async throws -> [MeterID: MeterID]
}

/// A meter that this host has seen or was told of.
package struct KnownMeter: Hashable, Sendable {
    package var id: MeterID
    package var model: ModelName?
    /// The link it was last seen on.
    package var link: LinkAddress?
    /// A person declared the port (see `DeclaredPort`), so it is watched even though nothing identifies it.
    package var isDeclared: Bool
    /// It is to be connected, now and after a restart. Of this host only, never shared.
    package var isWanted: Bool
    /// The kind of link that a person asked for, now and after a restart; nil means the usual one. Of this host only.
    package var preferred: LinkAddress.Transport?
    package var lastSeen: WallTime?

    package init(
        id: MeterID, model: ModelName? = nil, link: LinkAddress? = nil, isDeclared: Bool = false,
        isWanted: Bool = false, preferred: LinkAddress.Transport? = nil, lastSeen: WallTime? = nil
    ) {
        self.id = id
        self.model = model
        self.link = link
        self.isDeclared = isDeclared
        self.isWanted = isWanted
        self.preferred = preferred
        self.lastSeen = lastSeen
    }
}
