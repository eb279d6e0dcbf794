package protocol SightingSource: Sendable {
    /// Runs until the task is cancelled. May call `report` from any thread, but in order.
    func run(_ report: @escaping @Sendable (SightingEvent) -> Void) async
}

/// Reports this host's ports: those of plugged-in meters, and those declared by a user.
package protocol PortSource: SightingSource {
    /// Starts watching a port. Replaces a declaration of the same path.
    func watch(_ port: DeclaredPort)
    func unwatch(_ meter: MeterID)
    /// Registers a known meter and its last USB port, so that the meter keeps its id. Must be called before `run`.
    func remember(_ meter: MeterID, _ plug: USBPlug?)
    /// Reports a plugged-in meter again, as if it were new.
    ///
    /// - Parameter byPort: whether to identify the meter by its port from now on, because several meters share its
    ///   serial number.
    func meetAnew(_ meter: MeterID, byPort: Bool)
    /// Whether both paths refer to one device, as a symbolic link and its target do.
    func isSamePort(_ first: String, _ second: String) -> Bool
    func isThere(_ path: String) -> Bool
}

package enum SightingEvent: Hashable, Sendable {
    case appeared(Sighting)
    /// A known meter's radio advertised again; rate-limited. `rssi` is in dBm; nil if the adapter does not report it.
    case heard(MeterID, LinkAddress, rssi: Int?)
    case vanished(Sighting)
}

package struct Sighting: Hashable, Sendable {
    package var id: MeterID
    /// Nil if the link does not reveal the model, as with a serial adapter.
    package var model: ModelName?
    package var name: String?
    package var link: LinkAddress
    /// Signal strength of the first radio advertisement, in dBm; nil over a cable, or if the adapter does not report
    /// it.
    package var rssi: Int?
    /// USB port and device; nil for a radio link or a declared port.
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

/// A serial port, network board or formula that a user declared as a meter.
package struct DeclaredPort: Hashable, Sendable {
    /// Link to the meter. Only a connection shows whether a network board is present.
    package var link: LinkAddress
    package var model: ModelName
    /// The meter's id, if the user declared it; nil to derive it from the port.
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
