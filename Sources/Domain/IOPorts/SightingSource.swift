package protocol SightingSource: Sendable {
    /// Runs until the task is cancelled. May call `report` from any thread, in order.
    func run(_ report: @escaping @Sendable (SightingEvent) -> Void) async
}

/// Ports of this host: plugged-in meters, and ports declared by a user.
package protocol PortSource: SightingSource {
    /// Starts watching a declared port. Replaces an earlier declaration of the same path.
    func watch(_ port: DeclaredPort)
    func unwatch(_ meter: MeterID)
    /// Registers a known meter and its last port, so that it keeps its id. Call before `run`.
    func remember(_ meter: MeterID, _ plug: USBPlug?)
    /// Reports a plugged-in meter as if it were new.
    ///
    /// - Parameter byPort: whether to ignore its serial number from now on, because several meters have it.
    func meetAnew(_ meter: MeterID, byPort: Bool)
    /// Whether two paths lead to the same device, as a symbolic link and its target do.
    func isSamePort(_ first: String, _ second: String) -> Bool
    /// Whether a device is at the path now.
    func isThere(_ path: String) -> Bool
}

package enum SightingEvent: Hashable, Sendable {
    case appeared(Sighting)
    /// A known radio was heard again, reported now and then instead of for each advertisement. `rssi` is in dBm; nil if
    /// the adapter does not report it.
    case heard(MeterID, LinkAddress, rssi: Int?)
    case vanished(Sighting)
}

/// A meter in reach, and the link to it.
package struct Sighting: Hashable, Sendable {
    package var id: MeterID
    /// Nil if the link does not tell, such as a serial adapter with anything behind it.
    package var model: ModelName?
    package var name: String?
    package var link: LinkAddress
    /// Signal strength in dBm when the radio was first heard; nil over a cable, or if the adapter does not report it.
    package var rssi: Int?
    /// Nil for a radio, and for a declared port.
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

/// A port or network board that has a meter according to a user: in the configuration, or by `meterctl connect /dev/…`.
package struct DeclaredPort: Hashable, Sendable {
    /// For a network board, only a connection shows whether it is there.
    package var link: LinkAddress
    package var model: ModelName
    /// The meter's own id if the user knows it; nil to use the port.
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
