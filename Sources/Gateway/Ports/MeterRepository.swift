package import Domain

package protocol MeterRepository: Sendable {
    func meters() async throws -> [KnownMeter]
    func save(_ meter: KnownMeter) async throws
    func forget(_ meter: MeterID) async throws
    /// Returns the current id of each former id of this host's meters.
    func formerIDs() async throws -> [MeterID: MeterID]
}

package struct KnownMeter: Hashable, Sendable {
    package var id: MeterID
    package var model: ModelName?
    /// Link on which the meter was last seen.
    package var link: LinkAddress?
    /// Whether a user declared the port (`DeclaredPort`). meterd watches the port, although nothing identifies the
    /// meter.
    package var isDeclared: Bool
    /// Whether to connect the meter, also after a restart. Not shared with other hosts.
    package var isWanted: Bool
    /// Kind of link requested by a user; nil for the usual preference. Not shared with other hosts.
    package var preferred: LinkAddress.Transport?
    package var lastSeen: WallTime?
    /// Port where the meter was last plugged in; nil for a radio and a declared port.
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
