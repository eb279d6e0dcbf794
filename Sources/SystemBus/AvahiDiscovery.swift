package import Domain
import Glibc
package import LinuxIO

/// Finds services through Avahi. Each call has its own connection to the system bus.
///
/// Signatures: org.freedesktop.Avahi.Server.xml and …ServiceBrowser.xml of Avahi 0.8 and later (avahi-daemon/,
/// github.com/avahi/avahi).
package struct AvahiDiscovery: Discovery {
    private let loop: IOLoop
    private let address: String?

    /// - Parameter bus: D-Bus address; nil for the system bus.
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

/// One search. Use it only on the loop. It retains itself until its end.
private final class AvahiBrowse: @unchecked Sendable {
    /// Timeout of a search. Avahi reports the end of its list one second after its query (avahi-core/querier.c). The
    /// other second is for resolving the services.
    private static let limit = Duration.seconds(2)
    private static let servicesMax = 64
    private static let anyInterface = BusValue.int(-1)
    private static let anyProtocol = BusValue.int(-1)
    private static let noFlags = BusValue.uint(0)
    /// Value of `AVAHI_LOOKUP_NO_ADDRESS` (avahi-common/defs.h).
    private static let noAddress = BusValue.uint(8)

    private let type: String
    private let loop: IOLoop
    private var done: ((Result<FoundServices, DiscoveryFault>) -> Void)?
    private var bus: SystemBus?
    private var timer: LoopTimer?
    private var owner = ""
    /// Names already reported. Avahi reports a name once for each interface and protocol.
    private var names: Set<String> = []
    private var found = FoundServices()
    private var pending = 0
    private var isAllTold = false

    init(_ type: String, loop: IOLoop, done: @escaping (Result<FoundServices, DiscoveryFault>) -> Void) {
        (self.type, self.loop, self.done) = (type, loop, done)
    }

    func begin(on address: String?) {
        let bus = SystemBus(
            loop: loop, address: address, daemon: "org.freedesktop.Avahi",
            signals: ["org.freedesktop.Avahi.ServiceBrowser"]
        ) { [self] in if done != nil { happened($0) } }
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
            guard !new.isEmpty else { return end(.failure(.noAvahi)) }
            owner = new
            call("ServiceBrowserNew", [.text(type), .text(""), Self.noFlags]) { [self] answer in
                if case .failure(let error) = answer { end(.failure(.refused("\(error)"))) }
            }
        case .owner(let new): if new != owner { end(.failure(.silent)) }
        // Any program on the bus may send a signal, so check the sender.
        case .signal(let sender, _, let member, let values): if sender == owner { browsed(member, values) }
        case .closed(let cause): end(.failure(.noBus(cause)))
        }
        endIfAllFound()
    }

    private func endIfAllFound() {
        if isAllTold, pending == 0 { end(.success(found)) }
    }

    private func call(_ member: String, _ arguments: [BusValue], then answer: @escaping SystemBus.Answer) {
        let all = [Self.anyInterface, Self.anyProtocol] + arguments
        bus?.send(SystemBus.Call("/", "org.freedesktop.Avahi.Server", member, all)) { [self] in
            if done != nil { answer($0) }
        }
    }

    private func browsed(_ member: String, _ values: [BusValue]) {
        switch member {
        case "ItemNew":
            guard values.count >= 5, let name = values[2].text, !names.contains(name) else { return }
            guard names.count < Self.servicesMax else { return found.isCut = true }
            names.insert(name)
            pending += 1
            call("ResolveService", [values[2], .text(type), values[4], Self.anyProtocol, Self.noAddress]) { [self] in
                pending -= 1
                if let service = FoundService((try? $0.get()) ?? []) { found.services.append(service) }
                endIfAllFound()
            }
        case "AllForNow": isAllTold = true
        case "Failure": end(.failure(.refused("it ended the search")))
        default: break
        }
    }
}

extension FoundService {
    /// - Parameter values: answer of `ResolveService`: interface, protocol, name, type, domain, host, the address's
    ///   protocol, address, port, strings of the TXT record.
    fileprivate init?(_ values: [BusValue]) {
        guard values.count >= 10, let name = values[2].text, let host = values[5].text, let port = values[8].number
        else { return nil }
        let text = values[9].list.reduce(into: [UInt8]()) { text, string in
            guard case .bytes(let bytes) = string, (1...255).contains(bytes.count), text.count + bytes.count < 2048
            else { return }
            text += [UInt8(bytes.count)] + bytes
        }
        self.init(name: name, host: host, port: port, text: text)
    }
}

extension DiscoveryFault {
    fileprivate static let silent = Self("Avahi did not answer, or ended meanwhile", next: "look again in a moment")

    fileprivate static func refused(_ cause: String) -> Self {
        Self("Avahi does not look: \(cause)", next: "systemctl status avahi-daemon")
    }

    static func noBus(_ cause: Errno) -> Self {
        let words = cause.code == ELIBACC ? "libsystemd.so.0 is not there" : "no system bus (\(cause))"
        return Self(words, next: "sudo apt-get install libsystemd0 dbus avahi-daemon")
    }
}
