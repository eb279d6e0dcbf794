/// Reports which meters are there: plugged in, or heard.
package protocol SightingSource: Sendable {
    /// Watches until the task is cancelled. `report` may be called from any thread, in order.
    func run(_ report: @escaping @Sendable (SightingEvent) -> Void) async
}

/// This host's ports: meters that are plugged in, and ports that a person declared.
package protocol PortSource: SightingSource {
    /// Watches a port that a person declared, from now on. Declaring the same path again replaces its declaration.
    func watch(_ port: DeclaredPort)
    /// Stops watching the ports declared for a meter.
    func unwatch(_ meter: MeterID)
    /// Tells of a meter that this host knows, and where it was last plugged in, so that it keeps its id. To be called before
    /// `run`.
    func remember(_ meter: MeterID, _ plug: USBPlug?)
    /// Reports a plugged-in meter anew, like one that was never met.
    ///
    /// - Parameter byPort: whether no meter is known by its serial number from now on, as several have it.
    func meetAnew(_ meter: MeterID, byPort: Bool)
    /// Whether two paths lead to the same device, as a symbolic link and its target do.
    func isSamePort(_ first: String, _ second: String) -> Bool
    /// Whether there is a device at a path now.
    func isThere(_ path: String) -> Bool
}

package enum SightingEvent: Hashable, Sendable {
    case appeared(Sighting)
    /// A known radio was heard again. `rssi` is in dBm, if the adapter reports it. Sent now and then, not for each
    /// advertisement.
    case heard(MeterID, LinkAddress, rssi: Int?)
    case vanished(Sighting)
}

/// A meter that is there, and the link to it.
package struct Sighting: Hashable, Sendable {
    package var id: MeterID
    /// Nil if the link does not tell, such as a serial adapter with anything behind it.
    package var model: ModelName?
    /// The device's own name.
    package var name: String?
    package var link: LinkAddress
    /// Signal strength in dBm when the radio was first heard. Nil over a cable, or if the adapter does not report it.
    package var rssi: Int?
    /// Where it is plugged in. Nil for a radio, and for a port that a person declared.
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

/// A port that has a meter behind it, or a board in the network, according to a person: in the configuration, or by
/// `meterctl connect /dev/…`.
package struct DeclaredPort: Hashable, Sendable {
    /// Of a board in the network, nothing but a connection tells whether it is there.
    package var link: LinkAddress
    package var model: ModelName
    /// The meter's own id if the person knows it; otherwise the port serves as one.
    package var id: MeterID?
    package var name: String?

    package init(_ link: LinkAddress, model: ModelName, id: MeterID? = nil, name: String? = nil) {
        self.link = link
        self.model = model
        self.id = id
        self.name = name
    }

    /// The device's path, or the board's host.
    package var path: String { link.stored }
}
