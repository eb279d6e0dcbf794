import CloudAPI
import CloudServer
import Domain
import FoundationEssentials
import LinuxIO
import NIOCore
import Synchronization

/// Many hosts in this one process, each with the leases of its meters, as far as a cloud can tell: what they send is what
/// real ones send, over real connections.
///
/// Zones are of a hundred hosts, as accounts are small and many.
final class Fleet: Sendable {
    static let hostsPerZone = 100
    static let metersEach = 10
    /// Docs/Leases.md#times: how often a host renews.
    static let heartbeat = 60.0

    private struct State {
        var hosts: [CloudHost]
        /// Each with what it was when it was last read, so that an edit is news.
        var edits = 0
    }

    private let state: Mutex<State>
    /// By copy of the cloud; a host always asks the same one.
    let clients: [LoadClient]
    let count: Int
    private let refusals = Atomic<Int>(0)

    init(_ hosts: [CloudHost], clients: [LoadClient]) {
        count = hosts.count
        state = Mutex(State(hosts: hosts))
        self.clients = clients
    }

    var meters: Int { count * Self.metersEach }
    /// Acquires that were refused, because the meter's release was not seen yet or somebody else was quicker.
    var refused: Int { refusals.load(ordering: .relaxed) }

    func host(_ number: Int) -> CloudHost { state.withLock { $0.hosts[number % count] } }
    func client(of number: Int) -> LoadClient { clients[number % count % clients.count] }

    /// Bytes of HTTP, both ways, of all hosts' requests.
    var traffic: Int { clients.reduce(0) { $0 + $1.traffic } }

    static func path(_ zone: String, _ rest: String) -> String { "/v1/zones/\(zone)/\(rest)" }

    /// The event streams of so many hosts, spread over all zones.
    ///
    /// - Parameter clients: one for each copy of the cloud, with a connection for each stream.
    func eventStreams(_ count: Int, over clients: [LoadClient]) -> [OpenStreams.Source] {
        (0..<count).map { number in
            let index = number * max(1, self.count / max(1, count))
            let host = host(index)
            return OpenStreams.Source(
                client: clients[index % self.count % clients.count], path: Self.path(host.zone, "events"),
                token: host.token)
        }
    }

    // MARK: What hosts do

    /// One heartbeat of one host.
    ///
    /// - Returns: how many of its leases were renewed, and how many were not.
    @discardableResult func renew(_ number: Int) async throws -> (renewed: Int, lost: Int) {
        let host = host(number)
        guard !host.leases.isEmpty else { return (0, 0) }
        let body = try ByteBuffer(json: RenewRequest(session: host.session.description, leases: host.leases))
        let answer = try await client(of: number).post(
            Self.path(host.zone, "leases/renew"), body, token: host.token)
        // Counted without decoding: this process shares the machine with what it measures.
        let renewed = answer.readableBytesView.count(of: Array("\"renewed\"".utf8))
        return (renewed, host.leases.count - renewed)
    }

    /// A meter goes from one host to another of its zone: carried to another desk, as one in a hundred is each minute.
    func move(_ rng: inout some RandomNumberGenerator) async throws {
        let from = Int.random(in: 0..<count, using: &rng)
        let zoneStart = from / Self.hostsPerZone * Self.hostsPerZone
        let to = Int.random(in: zoneStart..<min(zoneStart + Self.hostsPerZone, count), using: &rng)
        let lease = state.withLock { state in
            state.hosts[from].leases.isEmpty ? nil : state.hosts[from].leases.removeLast()
        }
        guard let lease else { return }
        let old = host(from)
        let release = try ByteBuffer(json: ReleaseRequest(session: old.session.description, token: lease.token))
        try await client(of: from).post(
            Self.path(old.zone, "leases/\(lease.meter.replacing(":", with: "%3A"))/release"), release,
            token: old.token)
        if try await !acquire(lease.meter, by: to) { refusals.wrappingAdd(1, ordering: .relaxed) }
    }

    /// - Returns: whether it was granted.
    func acquire(_ meter: String, by number: Int) async throws -> Bool {
        var rng = SystemRandomNumberGenerator()
        let host = host(number)
        let request = AcquireRequest(
            requestID: RequestID(using: &rng).description, session: host.session.description, transport: "usb")
        let path = Self.path(host.zone, "leases/\(meter.replacing(":", with: "%3A"))/acquire")
        guard
            let answer = try await client(of: number).postUnlessConflict(
                path, try ByteBuffer(json: request), token: host.token)
        else { return false }
        let lease = try JSONDecoder().decode(LeaseBody.self, from: Data(answer.readableBytesView))
        state.withLock {
            $0.hosts[number % count].leases.append(RenewRequest.Lease(meter: lease.meter, token: lease.token))
        }
        return true
    }

    /// Somebody renames a meter.
    func edit(_ number: Int) async throws {
        let host = host(number)
        let version = state.withLock { state in
            state.edits += 1
            return state.edits
        }
        let record = SampleRecords.settings(number..<(number + 1), version: version)
        let body = try ByteBuffer(json: ModifyRequest(records: record))
        try await client(of: number).post(Self.path(host.zone, "records/modify"), body, token: host.token)
    }

    /// Forgets who holds what, after all of it has run out.
    func forgetLeases() -> [(meter: String, host: Int)] {
        state.withLock { state in
            state.hosts.indices.flatMap { index in
                let leases = state.hosts[index].leases
                state.hosts[index].leases = []
                return leases.map { ($0.meter, index) }
            }
        }
    }
}

extension Collection<UInt8> {
    /// How often `text` is in it.
    func count(of text: [UInt8]) -> Int {
        guard let first = text.first else { return 0 }
        var (found, index) = (0, startIndex)
        while let start = self[index...].firstIndex(of: first) {
            if self[start...].starts(with: text) { found += 1 }
            index = self.index(after: start)
        }
        return found
    }
}
