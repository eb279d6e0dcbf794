package import MeterModel

/// Tells which meters are there: plugged in, or heard.
package protocol SightingSource: Sendable {
    /// Watches until the task is cancelled. `report` may be called from any thread, in order.
    func run(_ report: @escaping @Sendable (SightingEvent) -> Void) async
}

/// This host's plugs: meters that are plugged in, and ports that a person declared.
package protocol PortSource: SightingSource {
    /// Watches a port that a person declared, from now on. Declaring the same path again replaces what was said of it.
    func watch(_ port: DeclaredPort)
    /// Watches the ports that were declared to be a meter's no more.
    func unwatch(_ meter: MeterID)
    /// Whether two paths lead to one device, as a link and what it points to do.
    func isSamePort(_ first: String, _ second: String) -> Bool
    /// Whether a device is at a path now.
    func isThere(_ path: String) -> Bool
}

package enum SightingEvent: Hashable, Sendable {
    case appeared(Sighting)
    /// A radio that is there already was heard again, this loud, in dBm; nil where the adapter does not say. Told now
    /// and then, not for each advertisement.
    case heard(MeterID, LinkAddress, rssi: Int?)
    case vanished(Sighting)
}

/// A meter that is there, and over which link.
package struct Sighting: Hashable, Sendable {
    package var id: MeterID
    /// nil where the link does not tell, for example a serial adapter that anything may sit behind.
    package var model: ModelName?
    /// What the device calls itself.
    package var name: String?
    package var link: LinkAddress
    /// How loud a radio was when it was first heard, in dBm; nil over a cable, and where the adapter does not say.
    package var rssi: Int?

    package init(id: MeterID, model: ModelName?, name: String?, link: LinkAddress, rssi: Int? = nil) {
        self.id = id
        self.model = model
        self.name = name
        self.link = link
        self.rssi = rssi
    }
}

/// A port that a person says a meter is behind: in the configuration, or by `meterctl connect /dev/…`.
package struct DeclaredPort: Hashable, Sendable {
    package var path: String
    /// It is a raw HID device; otherwise a serial port.
    package var isRawHID: Bool
    package var model: ModelName
    /// The meter's own id where the person knows it, otherwise the port stands in.
    package var id: MeterID?
    package var name: String?

    package init(
        path: String, isRawHID: Bool = false, model: ModelName, id: MeterID? = nil, name: String? = nil
    ) {
        self.path = path
        self.isRawHID = isRawHID
        self.model = model
        self.id = id
        self.name = name
    }
}

extension DeclaredPort {
    package var link: LinkAddress { isRawHID ? .hid(path: path) : .serial(path: path) }
}
