package import Domain

/// What this host remembers about meters over restarts.
package protocol MeterRepository: Sendable {
    func meters() async throws -> [KnownMeter]
    /// Inserts the meter, or replaces the one with this id.
    func save(_ meter: KnownMeter) async throws
    /// Deletes the meter. Harmless if it is not there.
    func forget(_ meter: MeterID) async throws
    /// Former ids of this host's meters, with the present ones.
    func formerIDs() async throws -> [MeterID: MeterID]
}

/// A meter that this host has seen or was told of.
package struct KnownMeter: Hashable, Sendable {
    package var id: MeterID
    package var model: ModelName?
    /// The link on which it was last seen.
    package var link: LinkAddress?
    /// A person declared the port (see `DeclaredPort`), so it is watched although nothing identifies the meter.
    package var isDeclared: Bool
    /// It is to be connected, now and after a restart. On this host only; never shared.
    package var isWanted: Bool
    /// The kind of link that a person asked for, now and after a restart. Nil for the usual order. On this host only.
    package var preferred: LinkAddress.Transport?
    package var lastSeen: WallTime?
    /// Where it was last plugged in. Nil for a radio and a declared port.
    package var plug: USBPlug?

    package init(
        id: MeterID, model: ModelName? = nil, link: LinkAddress? = nil, isDeclared: Bool = false,
        isWanted: Bool = false, preferred: LinkAddress.Transport? = nil, lastSeen: WallTime? = nil,
        plug: USBPlug? = nil
    ) {
        self.id = id
        self.model = model
        self.link = link
        self.isDeclared = isDeclared
        self.isWanted = isWanted
        self.preferred = preferred
        self.lastSeen = lastSeen
        self.plug = plug
    }
}
