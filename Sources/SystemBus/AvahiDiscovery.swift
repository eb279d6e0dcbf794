package import Domain
import Glibc
package import LinuxIO

/// The services that Avahi knows in this network. Each call has a connection of its own to the system bus, which ends with
/// it: a daemon that restarts leaves nothing behind.
///
/// org.freedesktop.Avahi.Server.xml and …ServiceBrowser.xml of Avahi 0.8 and later (avahi-daemon/, github.com/avahi/avahi).
package struct AvahiDiscovery: Discovery {
    private let loop: IOLoop
    private let address: String?

    /// - Parameter bus: where the bus listens. Nil for the system bus.
    package init(loop: IOLoop, bus address: String? = nil) { (self.loop, self.address) = (loop, address) }

    package func services(of type: String) async throws(DiscoveryFault) -> FoundServices {
        let result = await withCheckedContinuation { continuation in
            loop.execute {
                AvahiBrowse(type, loop: loop, done: { continuation.resume(returning: $0) }).begin(on: address)
            }
        }
        return try result.get()
    }
}

/// One look around. To be used only on the loop; keeps itself until it is over.
private final class AvahiBrowse: @unchecked Sendable {
    // Unchecked: loop only.

    /// Avahi counts all as told a second after it asked (avahi-core/querier.c); the rest is for its answers about each.
    private static let limit = Duration.seconds(2)
    private static let servicesMax: UInt32 = 64
    private static let browseCall: UInt32 = 0

    private let type: String
    private let loop: IOLoop
    private var done: ((Result<FoundServices, DiscoveryFault>) -> Void)?
    private var bus: SystemBus?
    private var timer: LoopTimer?
    private var owner = ""
    /// The same name comes once for each interface and protocol.
    private var names: Set<String> = []
    private var found = FoundServices()
    /// Calls that ask where a service is.
    private var pending: Set<UInt32> = []
    private var isAllTold = false

    init(_ type: String, loop: IOLoop, done: @escaping (Result<FoundServices, DiscoveryFault>) -> Void) {
        (self.type, self.loop, self.done) = (type, loop, done)
    }

    func begin(on address: String?) {
        let bus = SystemBus(loop: loop, address: address, daemon: .avahi) { [self] in if done != nil { happened($0) } }
        self.bus = bus
        timer = loop.schedule(at: loop.now + Self.limit) { [self] in
            end(owner.isEmpty ? .failure(.silent) : .success(found))
        }
        do throws(Errno) { try bus.open() } catch { end(.failure(.noBus(error))) }
    }

    private func end(_ result: Result<FoundServices, DiscoveryFault>) {
        guard let done else { return }
        self.done = nil
        if let timer { loop.cancel(timer) }
        bus?.close()
        bus = nil
        done(result)
    }

    private func happened(_ event: SystemBus.Event) {
        switch event {
        case .owner(let new) where owner.isEmpty:
            guard !new.isEmpty else { return end(.failure(.noDaemon)) }
            owner = new
            bus?.send(.browse(type), Self.browseCall)
        // What another daemon began to tell is over.
        case .owner(let new): if new != owner { end(.failure(.silent)) }
        case .answered(Self.browseCall, let error, _): if let error { end(.failure(.refused("\(error)"))) }
        // It is gone again.
        case .answered(let call, _, _): pending.remove(call)
        // Anybody may send a signal.
        case .browsed(let sender, let member, let name, let domain):
            if sender == owner { browsed(member, name: name, domain: domain) }
        case .resolved(let call, let service): if pending.remove(call) != nil { found.services.append(service) }
        case .closed(let cause): end(.failure(.noBus(cause)))
        }
        if isAllTold, pending.isEmpty { end(.success(found)) }
    }

    private func browsed(_ member: String, name: String, domain: String) {
        switch member {
        case "ItemNew" where !names.contains(name):
            let call = UInt32(names.count) + 1
            guard call <= Self.servicesMax else { return found.isCut = true }
            names.insert(name)
            pending.insert(call)
            bus?.send(.resolve(name: name, type: type, domain: domain), call)
        case "AllForNow": isAllTold = true
        case "Failure": end(.failure(.refused("it ended the search")))
        default: break
        }
    }
}

extension DiscoveryFault {
    fileprivate static let noDaemon = Self(
        "Avahi does not run here", next: "sudo apt-get install avahi-daemon, or sudo systemctl start avahi-daemon")
    fileprivate static let silent = Self("Avahi did not answer, or ended meanwhile", next: "look again in a moment")

    fileprivate static func refused(_ cause: String) -> Self {
        Self("Avahi does not look: \(cause)", next: "systemctl status avahi-daemon")
    }

    fileprivate static func noBus(_ cause: Errno) -> Self {
        let words = cause.code == ELIBACC ? "libsystemd.so.0 is not there" : "no system bus (\(cause))"
        return Self(words, next: "sudo apt-get install libsystemd0 dbus avahi-daemon")
    }
}
