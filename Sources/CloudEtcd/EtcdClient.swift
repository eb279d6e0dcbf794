import AsyncHTTPClient
import Cloud
import Domain
import FoundationEssentials
import Logging
import NIOCore
import NIOHTTP1
import NIOSSL
import Synchronization

/// Client of etcd's JSON gateway, using whichever member answers.
///
/// After a timeout, the client repeats the request at the next member, so etcd may carry it out twice. Every request of
/// this module allows for that (see `EtcdCompare`). If etcd reverts to an older state, every call fails until the
/// program restarts.
final class EtcdClient: Sendable {
    private struct State {
        var current = 0
        var ticket: String?
        /// Greatest revision in any answer.
        var newest: Int64 = 0
        var wentBack: EtcdError?
        var reign: EtcdTerm?
    }

    let settings: EtcdSettings
    private let addresses: [String]
    private let clock: CloudClock
    private let logger: Logger
    private let http: HTTPClient
    private let state = Mutex(State())
    private let breaks = Atomic<UInt64>(0)

    /// Number that changes whenever etcd may have reverted to an older state: after a broken connection, or a change of
    /// the members or of their election term.
    var life: UInt64 { breaks.load(ordering: .sequentiallyConsistent) }

    private func beginAnotherLife() { breaks.wrappingAdd(1, ordering: .sequentiallyConsistent) }

    /// Opens no connection.
    ///
    /// - Throws: `badSetting`.
    init(_ settings: EtcdSettings, clock: CloudClock, logger: Logger) throws(EtcdError) {
        self.settings = settings
        self.clock = clock
        self.logger = logger
        addresses = try settings.addresses()
        http = HTTPClient(eventLoopGroupProvider: .singleton, configuration: try .etcd(settings))
    }

    func shutdown() async {
        try? await http.shutdown()
    }

    func shutdownAtOnce() throws { try http.syncShutdown() }

    // MARK: Requests

    func commit(_ transaction: EtcdTransaction) async throws(EtcdError) -> EtcdTransactionAnswer {
        var asked: Asked<EtcdTransactionAnswer> = try await ask("/v3/kv/txn", body: transaction.text)
        asked.answer.mayBeDoneBefore = asked.failures > 0
        return asked.answer
    }

    func read(_ ranges: [EtcdRange]) async throws(EtcdError) -> (revision: Int64, ranges: [EtcdRangeAnswer]) {
        let answer = try await commit(EtcdTransaction(success: ranges.map { .range($0) }))
        let found = ranges.indices.compactMap { answer.range($0) }
        guard found.count == ranges.count else {
            throw EtcdError(
                .garbage, "etcd answered \(answer.results.count) of \(ranges.count) ranges. See its version")
        }
        return (answer.revision, found)
    }

    func status() async throws(EtcdError) -> EtcdStatus {
        try await call("/v3/maintenance/status", body: Array("{}".utf8))
    }

    // MARK: One call, any member

    func call<Answer: EtcdReadable>(_ path: String, body: [UInt8]) async throws(EtcdError) -> Answer {
        try await ask(path, body: body).answer
    }

    private struct Asked<Answer: EtcdReadable> {
        var answer: Answer
        /// Number of attempts that got no answer, but may have been carried out.
        var failures: Int
    }

    private func ask<Answer: EtcdReadable>(_ path: String, body: [UInt8]) async throws(EtcdError) -> Asked<Answer> {
        let deadline = clock.now() + settings.patience
        var pause = Duration.milliseconds(20)
        var attempts = 0
        var hasLoggedIn = false
        while true {
            // Answers may arrive out of order, so an older one does not mean that etcd reverted. Compare with the
            // newest revision from before the request.
            let (index, newest) = try state.withLock { state throws(EtcdError) in
                if let wentBack = state.wentBack { throw wentBack }
                return (state.current, state.newest)
            }
            do throws(EtcdError) {
                let answer: Answer = try await ask(index, path, body: body, ticket: try await ticket(from: index))
                try check(answer.storeRevision, noOlderThan: newest, from: addresses[index])
                update(answer.reign)
                return Asked(answer: answer, failures: attempts)
            } catch {
                if error.code == .notAuthenticated, settings.user != nil, !hasLoggedIn {
                    hasLoggedIn = true
                    state.withLock { $0.ticket = nil }
                    continue
                }
                guard error.isWorthAnotherTry else { throw error }
                giveUp(index, error)
                attempts += 1
                guard attempts % addresses.count == 0 else { continue }
                guard clock.now() + pause < deadline, !Task.isCancelled else { throw error }
                await wait(pause)
                pause = min(pause * 2, .milliseconds(500))
            }
        }
    }

    private func check(_ revision: Int64, noOlderThan newest: Int64, from address: String) throws(EtcdError) {
        guard revision > 0 else { return }
        try state.withLock { state throws(EtcdError) in
            guard revision >= newest else {
                let error = EtcdError(
                    .wentBack,
                    "\(address) is at revision \(revision), and \(newest) was seen before: it was restored, "
                        + "or is another etcd. Stop every copy of metercloud, then see Docs/Scale.md")
                state.wentBack = error
                throw error
            }
            state.newest = max(state.newest, revision)
        }
    }

    private func update(_ reign: EtcdTerm?) {
        guard let reign else { return }
        let isNews = state.withLock { state in
            guard state.reign != reign else { return false }
            defer { state.reign = reign }
            return state.reign != nil
        }
        if isNews { beginAnotherLife() }
    }

    private func giveUp(_ index: Int, _ error: EtcdError) {
        beginAnotherLife()
        let isNews = state.withLock { state in
            guard state.current == index else { return false }
            state.current = (index + 1) % addresses.count
            return addresses.count > 1
        }
        if isNews { logger.warning("etcd member failed: next member in use", metadata: ["cause": "\(error)"]) }
    }

    private func wait(_ pause: Duration) async {
        try? await clock.sleep(clock.now() + pause)
    }

    private func ticket(from index: Int) async throws(EtcdError) -> String? {
        guard let user = settings.user else { return nil }
        if let ticket = state.withLock({ $0.ticket }) { return ticket }
        let body: [UInt8]
        do {
            body = [UInt8](try JSONEncoder().encode(["name": user, "password": settings.password]))
        } catch {
            throw EtcdError(.badSetting, "the user \(user) cannot be written as JSON (\(error)). Use another name")
        }
        let answer: EtcdAuthToken = try await ask(index, "/v3/auth/authenticate", body: body, ticket: nil)
        state.withLock { $0.ticket = answer.token }
        return answer.token
    }

    // MARK: One call, one member

    private func ask<Answer: EtcdReadable>(
        _ index: Int, _ path: String, body: [UInt8], ticket: String?
    ) async throws(EtcdError) -> Answer {
        let address = addresses[index]
        let deadline = NIODeadline.now() + .nanoseconds(settings.answerTimeout.nanoseconds)
        let response = try await send(address, path, body: body, ticket: ticket, deadline: deadline)
        let bytes: [UInt8]
        do {
            bytes = [UInt8](buffer: try await response.body.collect(upTo: Self.answerBytesMax))
        } catch {
            throw EtcdError(.timedOut, "the answer of \(address) broke off (\(error)). Try again")
        }
        guard response.status == .ok else {
            throw EtcdError(
                status: response.status.code, body: bytes, member: address,
                isAuthenticating: path == "/v3/auth/authenticate" && response.status.code < 500)
        }
        do {
            return try Answer.read(bytes)
        } catch {
            throw EtcdError(unreadable: error, from: address)
        }
    }

    private func send(
        _ address: String, _ path: String, body: [UInt8], ticket: String?, deadline: NIODeadline
    ) async throws(EtcdError) -> HTTPClientResponse {
        var request = HTTPClientRequest(url: address + path)
        request.method = .POST
        request.headers.add(name: "content-type", value: "application/json")
        if let ticket { request.headers.add(name: "authorization", value: ticket) }
        request.body = .bytes(ByteBuffer(bytes: body))
        do {
            return try await http.execute(request, deadline: deadline)
        } catch let error as HTTPClientError where error == .deadlineExceeded || error == .readTimeout {
            throw EtcdError(.timedOut, "\(address) does not answer in time. See that it runs, and its disk")
        } catch {
            throw EtcdError(.unreachable, "\(address) cannot be reached (\(error)). See that etcd runs there")
        }
    }

    /// Maximum size of an answer in bytes, for a full range of the largest zone.
    private static let answerBytesMax = 512 << 20

    // MARK: Watching

    /// Reports changes of a range until the connection ends. An event is only a hint: it may arrive late, twice or
    /// never.
    ///
    /// - Throws: if the watch cannot begin.
    func watch(
        _ range: EtcdRange, onStart: () async -> Void, _ body: ([EtcdWatchMessage.Event]) async -> Void
    ) async throws(EtcdError) {
        let index = state.withLock { $0.current }
        let address = addresses[index]
        var writer = EtcdWriter()
        writer.writeWatch(range)
        var hasBegun = false
        do throws(EtcdError) {
            let response = try await send(
                address, "/v3/watch", body: writer.text, ticket: try await ticket(from: index),
                deadline: .now() + .nanoseconds(settings.answerTimeout.nanoseconds))
            guard response.status == .ok else {
                throw EtcdError(
                    .refused, "\(address) does not take a watch: status \(response.status.code). See its log")
            }
            let begin = {
                hasBegun = true
                await onStart()
            }
            try await follow(response, from: address, onStart: begin, body)
        } catch {
            if error.code == .notAuthenticated { state.withLock { $0.ticket = nil } }
            if error.isWorthAnotherTry, !Task.isCancelled { giveUp(index, error) }
            if !hasBegun { throw error }
        }
    }

    private func follow(
        _ response: HTTPClientResponse, from address: String, onStart: () async -> Void,
        _ body: ([EtcdWatchMessage.Event]) async -> Void
    ) async throws(EtcdError) {
        var lines = LineSplitter(lengthMax: 64 << 20)
        do {
            for try await piece in response.body {
                for line in try lines.split([UInt8](buffer: piece)) {
                    let message = try EtcdWatchMessage.read(line)
                    if let error = message.error { throw EtcdError(words: error, status: 500, member: address) }
                    if message.isCanceled {
                        throw EtcdError(.refused, "\(address) ended the watch (\(message.reason ?? "compacted"))")
                    }
                    if message.isCreated { await onStart() }
                    if !message.events.isEmpty { await body(message.events) }
                }
            }
        } catch let error as EtcdError {
            throw error
        } catch let error as JSONReader.Problem {
            throw EtcdError(unreadable: error, from: address)
        } catch {
            throw EtcdError(.unreachable, "the watch of \(address) broke off (\(error))")
        }
        throw EtcdError(.unreachable, "\(address) ended the watch")
    }
}

extension EtcdWriter {
    mutating func writeWatch(_ range: EtcdRange) {
        append("{\"create_request\":")
        write(range)
        append("}")
    }
}

extension HTTPClient.Configuration {
    static func etcd(_ settings: EtcdSettings) throws(EtcdError) -> HTTPClient.Configuration {
        var configuration = HTTPClient.Configuration()
        configuration.redirectConfiguration = .disallow
        configuration.httpVersion = .http1Only
        configuration.timeout.connect = .nanoseconds(settings.answerTimeout.nanoseconds)
        // The caller retries with other members, so the HTTP client must not retry.
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 16
        configuration.tlsConfiguration = try tls(settings)
        return configuration
    }

    private static func tls(_ settings: EtcdSettings) throws(EtcdError) -> TLSConfiguration {
        var tls = TLSConfiguration.makeClientConfiguration()
        if let path = settings.authorities {
            do {
                tls.trustRoots = .certificates(try NIOSSLCertificate.fromPEMFile(path))
            } catch {
                throw EtcdError(.badSetting, "\(path) holds no certificate (\(error)). Give a file in PEM")
            }
        }
        guard settings.certificate != nil || settings.key != nil else { return tls }
        guard let certificate = settings.certificate, let key = settings.key else {
            throw EtcdError(.badSetting, "a certificate needs its key, and a key its certificate. Give both files")
        }
        do {
            tls.certificateChain = try NIOSSLCertificate.fromPEMFile(certificate).map { .certificate($0) }
            tls.privateKey = .privateKey(try NIOSSLPrivateKey(file: key, format: .pem))
        } catch {
            throw EtcdError(.badSetting, "\(certificate) and \(key) cannot be read (\(error)). Give files in PEM")
        }
        return tls
    }
}
