/// Announces this program's services on the network (DNS-SD, RFC 6763).
package protocol Announcer: Sendable {
    func announce(_ services: [OfferedService])
    func state() async -> Announcement.State
}

package struct OfferedService: Hashable, Sendable {
    /// DNS-SD type: `_http._tcp`. Its name has at most 15 characters (RFC 6335, section 5.1).
    package var type: String
    package var port: UInt16
    /// Strings of the TXT record, such as `path=/`, of at most 255 bytes each (RFC 6763, section 6.1).
    package var text: [String]

    package init(_ type: String, port: Int, text: [String]) {
        (self.type, self.port, self.text) = (type, UInt16(clamping: port), text.filter { $0.utf8.count <= 255 })
    }
}

/// Announces services through Avahi, as Avahi's examples/client-publish-service.c does.
///
/// Every attempt has its own connection, because Avahi withdraws a connection's announcements when it ends
/// (avahi-daemon/dbus-protocol.c, `client_free`).
package struct Announcement: Sendable {
    package enum State: Hashable, Sendable {
        case idle
        /// Avahi does not run; the announcement begins when it starts.
        case absent
        case registering
        case established(name: String)
        /// Another machine uses the name, so Avahi is asked for a new one.
        case collision
        case failed(DiscoveryFault)
    }

    package enum Input: Sendable {
        case wants([OfferedService])
        /// Unique bus name of Avahi; empty if it does not run.
        case owner(String)
        /// Text in the answer to `makeGroup` or `rename`.
        case told(String)
        case refused(error: String, words: String)
        /// Signal `StateChanged` of a group, or of Avahi's server, whose path is `/`.
        case changed(by: String, path: String, state: Int32, error: String)
        case lost(DiscoveryFault)
        case retry
    }

    package enum Order: Hashable, Sendable {
        case connect
        case disconnect
        case makeGroup
        case add(OfferedService, name: String, group: String)
        case commit(group: String)
        case rename(String)
        /// Send the input `retry` after a pause.
        case wait
    }

    package private(set) var state = State.idle
    private var services: [OfferedService] = []
    private var name: String
    private var owner = ""
    private var group: String?
    /// Renames since the last pause, limited because an attacker may claim every name.
    private var renames = 0

    /// - Parameter name: cut to the maximum of 63 bytes (RFC 6763, section 4.1.1).
    package init(name: String) {
        self.name = name
        while self.name.utf8.count > 63 { self.name.removeLast() }
    }

    package mutating func receive(_ input: Input) -> [Order] {
        switch input {
        case .wants(let services):
            self.services = services
            return services.isEmpty ? leave(.idle) + [.disconnect] : begin()
        // Ignore a late input from a closed connection: without services there is no connection.
        case _ where services.isEmpty: return []
        // Without an owner, Avahi has ended and its groups no longer exist.
        case .owner(""): return leave(.absent)
        case .owner(let new): return new == owner ? [] : leave(.registering, owner: new) + [.makeGroup]
        case .told(let text) where state == .collision:
            name = text
            return begin()
        case .told(let text):
            group = text
            return services.map { .add($0, name: name, group: text) } + [.commit(group: text)]
        // avahi-common/dbus.h, AVAHI_DBUS_ERR_COLLISION: another program on this machine uses the name.
        case .refused("org.freedesktop.Avahi.CollisionError", _): return collide()
        case .refused(_, let words): return fail(.refused(words))
        // Any program may send a signal, so check the sender.
        case .changed(let sender, let path, let state, let error):
            guard sender == owner, self.state != .collision else { return [] }
            return path == "/" ? serverIs(state) : path == group ? groupIs(state, error) : []
        case .lost(let fault): return fail(fault)
        case .retry:
            guard case .failed = state else { return [] }
            renames = 0
            return begin()
        }
    }

    private mutating func leave(_ state: State, owner: String = "") -> [Order] {
        (self.state, self.owner, group) = (state, owner, nil)
        return []
    }

    private mutating func begin() -> [Order] { leave(.registering) + [.connect] }

    private mutating func fail(_ fault: DiscoveryFault) -> [Order] { leave(.failed(fault)) + [.disconnect, .wait] }

    private mutating func collide() -> [Order] {
        guard state != .collision else { return [] }
        renames += 1
        guard renames <= 20 else { return fail(.refused("\"\(name)\" and names like it are taken")) }
        state = .collision
        return [.rename(name)]
    }

    /// Handles `AvahiServerState` (avahi-common/defs.h). When the server runs again, announces the services again,
    /// because the machine's name, which they contain, may have changed.
    private mutating func serverIs(_ state: Int32) -> [Order] { state == 2 ? begin() : [] }

    /// Handles `AvahiEntryGroupState` (avahi-common/defs.h).
    private mutating func groupIs(_ state: Int32, _ error: String) -> [Order] {
        switch state {
        case 2: self.state = .established(name: name)
        case 3: return collide()
        case 4: return fail(.refused(error))
        default: break
        }
        return []
    }
}

extension Announcement.State {
    package var fault: DiscoveryFault? {
        switch self {
        case .absent: .noAvahi
        case .failed(let fault): fault
        case .idle, .registering, .established, .collision: nil
        }
    }
}

extension DiscoveryFault {
    package static let noAvahi = Self(
        "Avahi does not run here", next: "sudo apt-get install avahi-daemon, or sudo systemctl start avahi-daemon")

    fileprivate static func refused(_ cause: String) -> Self {
        Self("Avahi does not announce: \(cause)", next: "systemctl status avahi-daemon")
    }
}
