package protocol SightingSource: Sendable {
    /// Runs until the task is cancelled. May call `report` from any thread, but in order.
    func run(_ report: @escaping @Sendable (SightingEvent) -> Void) async
}

/// Ports of this host: plugged-in meters, and ports declared by a user.
package protocol PortSource: SightingSource {
    /// Starts watching a declared port. Replaces an earlier declaration of the same path.
    func watch(_ port: DeclaredPort)
    func unwatch(_ meter: MeterID)
    /// Registers a known meter and its last port, so that the meter keeps its id. Must be called before `run`.
    func remember(_ meter: MeterID, _ plug: USBPlug?)
    /// Reports a plugged-in meter as if it were new.
    ///
    /// - Parameter byPort: whether to ignore the meter's serial number from now on, because several meters share it.
    func meetAnew(_ meter: MeterID, byPort: Bool)
    /// Returns whether two paths refer to the same device, as a symbolic link and its target do.
    func isSamePort(_ first: String, _ second: String) -> Bool
    /// Returns whether a device exists at the path now.
    func isThere(_ path: String) -> Bool
}

package enum SightingEvent: Hashable, Sendable {
    case appeared(Sighting)
    /// A known meter's radio advertised again. Reported occasionally instead of for each advertisement. `rssi` is in
    /// dBm; nil if the adapter does not report it.
    case heard(MeterID, LinkAddress, rssi: Int?)
    case vanished(Sighting)
}

/// A meter within reach, and the link to it.
package struct Sighting: Hashable, Sendable {
    package var id: MeterID
    /// Model of the meter; nil if the link does not show it, for example a serial adapter.
    package var model: ModelName?
    package var name: String?
    package var link: LinkAddress
    /// Signal strength in dBm of the radio's first advertisement; nil over a cable, or if the adapter does not report
    /// it.
    package var rssi: Int?
    /// USB port and device of a plugged-in meter; nil for a radio, and for a declared port.
    package var plug: USBPlug?

    package init(
        id: MeterID, model: ModelName?, name: String?, link: LinkAddress, rssi: Int? = nil, plug: USBPlug? = nil
    ) {
        self.id = id
        self.model = model
        self.name = name
        self.link = link
        self.rssi = rssi
        self.plug = plug
    }
}

/// A port or network board that a user declared as a meter: in the configuration, or by `meterctl connect /dev/…`.
package struct DeclaredPort: Hashable, Sendable {
    /// Link to the meter. Only a connection shows whether a network board is present.
    package var link: LinkAddress
    package var model: ModelName
    /// The meter's own id if the user knows it; nil to derive the id from the port.
    package var id: MeterID?
    package var name: String?

    package init(_ link: LinkAddress, model: ModelName, id: MeterID? = nil, name: String? = nil) {
        self.link = link
        self.model = model
        self.id = id
        self.name = name
    }

    package var path: String { link.stored }
}
