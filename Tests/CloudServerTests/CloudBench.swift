import Cloud
import CloudAPI
import CloudServer
import CoreTestKit
import Domain
import Foundation
import Hummingbird
import HummingbirdTesting
import Logging
import MeterTestKit
import ServerKit
import StoreTestKit
import Synchronization
import Testing

/// The whole server over a store of its own, with a clock that the test moves.
final class CloudBench: Sendable {
    static let meter = "02:00:00:00:25:0C"
    static let start = WallTime(millisecondsSince1970: 1_780_000_000_000)

    let engine: TemporaryCloudEngine
    let clock = BenchClock()
    let log = LogBook()
    let service: CloudService
    let gate: RequestGate
    let routes: CloudRoutes
    private let tokens = Mutex<UInt64>(0)

    init(limits: RequestGate.Limits = RequestGate.Limits()) throws {
        engine = try TemporaryCloudEngine()
        service = CloudService(
            engine: engine, clock: clock.cloud, rng: CountingRNG(last: 1 << 40), logger: log.logger)
        gate = RequestGate(limits: limits, now: clock.cloud.now)
        let rng = Mutex(CountingRNG(last: 0))
        routes = CloudRoutes(
            service: service, gate: gate, clock: clock.cloud, version: "1.2.3",
            makeToken: { rng.withLock { BearerToken(using: &$0) } },
            figures: { $0.add(CloudMetrics.records, count: 7) })
    }

    var application: CloudApplication {
        var application = CloudApplication(
            routes: routes, host: "localhost", port: 0, tls: nil, logger: log.logger)
        // A client connects before its test has a thread, which took a minute on a loaded machine.
        application.strangerPatience = .minutes(10)
        return application
    }

    /// Runs `body` on the router or on a socket.
    func test(_ medium: Medium, _ body: @Sendable @escaping (Browser) async throws -> Void) async throws {
        try await application.service().test(medium.setup) { client in try await body(Browser(client: client)) }
    }

    // MARK: Whoever asks

    /// A token of a host that has joined. Its id is of all the same digit.
    func host(
        _ digit: Character, in zone: String = "home", name: String? = nil, as role: HostRole = .full
    ) async throws -> Member {
        let token = try await token(.host, role, in: zone)
        let host = String("xxxxxxxx-xxxx-4xxx-8xxx-xxxxxxxxxxxx".map { $0 == "x" ? digit : $0 })
        let principal = try await service.authenticate(hash: token.hash)
        let request = JoinRequest(hostID: host, hostName: name ?? "host-\(digit)", machine: "machine-\(digit)")
        _ = try await service.join(request, by: principal, newToken: (text: "", hash: []))
        return Member(
            token: token.text, id: host, credential: principal.credential.id,
            principal: try await service.authenticate(hash: token.hash))
    }

    /// A token, and its zone where that is not there yet.
    func token(
        _ kind: Credential.Kind, _ role: HostRole = .full, in zone: String = "home"
    ) async throws -> BearerToken {
        _ = try await service.createZone(zone, terms: .standard)
        let number = tokens.withLock { tokens in
            tokens += 1
            return tokens
        }
        var rng = CountingRNG(last: number << 20)
        let token = BearerToken(using: &rng)
        _ = try await service.addCredential(kind, role, label: "bench", hash: token.hash, in: zone)
        return token
    }

    /// For tests that need but one.
    static func makeToken() -> BearerToken {
        var rng = CountingRNG(last: 77)
        return BearerToken(using: &rng)
    }

    struct Member {
        var token: String
        var id: String
        var credential: String
        var principal: Principal
    }

    static func lease(_ call: String, of meter: String = meter, in zone: String = "home") -> String {
        "/v1/zones/\(zone)/leases/\(meter.replacing(":", with: "%3A"))/\(call)"
    }

    static func uuid(_ digit: Character) -> String {
        String("xxxxxxxx-xxxx-4xxx-9xxx-xxxxxxxxxxxx".map { $0 == "x" ? digit : $0 })
    }

    static func acquire(_ digit: Character, takeover: TakeoverRequest? = nil) -> AcquireRequest {
        var request = AcquireRequest(requestID: uuid(digit), session: uuid(digit), transport: "usb")
        request.takeover = takeover
        return request
    }
}

/// Where the same test runs.
enum Medium: CaseIterable, Sendable {
    case router
    case socket

    var setup: TestingSetup { self == .router ? .router : .live }
}

/// One client of the server.
struct Browser: Sendable {
    let client: any TestClientProtocol

    func request(
        _ method: HTTPRequest.Method, _ uri: String, token: String? = nil, _ body: String? = nil
    ) async throws -> Answer {
        try await request(method, uri, authorization: token.map { "Bearer \($0)" }, body)
    }

    func request(
        _ method: HTTPRequest.Method, _ uri: String, authorization: String?, _ body: String?
    ) async throws -> Answer {
        var headers = HTTPFields()
        headers[.authorization] = authorization
        return try await client.execute(
            uri: uri, method: method, headers: headers, body: body.map { ByteBuffer(string: $0) }
        ) { response in
            Answer(status: response.status.code, headers: response.headers, text: String(buffer: response.body))
        }
    }

    func post(_ uri: String, token: String?, _ body: some Encodable) async throws -> Answer {
        try await request(
            .post, uri, token: token, String(decoding: try JSONEncoder().encode(body), as: UTF8.self))
    }
}

struct Answer: Sendable {
    var status: Int
    var headers: HTTPFields
    var text: String

    func decode<Body: Decodable>(_ type: Body.Type = Body.self) throws -> Body {
        try JSONDecoder().decode(type, from: Data(text.utf8))
    }

    var error: CloudErrorBody.Content? {
        // A body that is no error shows as nil in the test.
        try? decode(CloudErrorBody.self).error
    }
}

/// A clock that stands until it is moved.
final class BenchClock: Sendable {
    private struct State {
        var now = MonotonicTime(sinceOrigin: .seconds(1000))
        var sleepers: [UInt64: (until: MonotonicTime, continuation: CheckedContinuation<Void, any Error>)] = [:]
        var nextID: UInt64 = 0
    }

    private let state = Mutex(State())

    var cloud: CloudClock {
        CloudClock(
            now: { [self] in state.withLock { $0.now } },
            wallNow: { [self] in CloudBench.start + state.withLock { $0.now.sinceOrigin - .seconds(1000) } },
            sleep: { [self] in try await sleep(until: $0) })
    }

    var hasSleepers: Bool { state.withLock { !$0.sleepers.isEmpty } }

    func advance(by duration: Duration) {
        let due = state.withLock { state in
            state.now = state.now + duration
            let due = state.sleepers.filter { $0.value.until <= state.now }
            for id in due.keys { state.sleepers[id] = nil }
            return due
        }
        for sleeper in due.values { sleeper.continuation.resume() }
    }

    private func sleep(until time: MonotonicTime) async throws {
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let isDue = state.withLock { state in
                    guard state.now < time, !Task.isCancelled else { return true }
                    state.sleepers[id] = (time, continuation)
                    return false
                }
                if isDue { continuation.resume() }
            }
        } onCancel: {
            let sleeper = state.withLock { $0.sleepers.removeValue(forKey: id) }
            sleeper?.continuation.resume(throwing: CancellationError())
        }
    }
}
