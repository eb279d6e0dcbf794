package import Domain
package import Gateway
import Synchronization

/// An in-memory cloud that a test can make fail, wait or lose changes. Each host has its own link.
package final class ScriptedCloud: Sendable {
    package enum Call: Hashable, Sendable { case account, createZone, changes, modify }

    private struct State {
        var epoch = "e1"
        /// Identity of the zone; nil to simulate an older cloud without identities.
        var zoneID: String?
        /// Last valid sequence of each timeline that a rollback ended. The key is the timeline's number (`mark`). A
        /// change token with a later sequence reveals the rollback.
        var marks: [Int: Int] = [:]
        var mark = 0
        /// Zone identity passed by the host in each call of `createZone`.
        var askedIdentities: [String?] = []
        var sequence = 0
        var records: [RecordKey: (record: SyncRecord, sequence: Int)] = [:]
        /// Sequence below which change tokens are expired.
        var floor = 0
        var isReachable = true
        var failures: [Call: [SyncFailure]] = [:]
        var refusals: [RecordKey: SyncFailure] = [:]
        var recordsMax = 400
        var lookers: Set<HostID> = []
        var streams: [Int: (host: HostID, continuation: AsyncThrowingStream<CloudEvent, any Error>.Continuation)] = [:]
        var nextStream = 0
        var calls: [Call] = []
        var onCall: @Sendable (Call) async -> Void = { _ in }
    }

    private let state = Mutex(State())
    private let loop: any SessionLoop
    package let zone: String

    /// - Parameter loop: loop whose wall clock serves as the cloud's clock.
    package init(zone: String = "home", id: String? = nil, loop: any SessionLoop) {
        self.zone = zone
        self.loop = loop
        state.withLock { $0.zoneID = id }
    }

    package func link(for host: HostID) -> any CloudLink { Link(cloud: self, host: host) }

    // MARK: The script

    /// Sets a closure that each call runs before its answer.
    package func onCall(_ body: @escaping @Sendable (Call) async -> Void) { state.withLock { $0.onCall = body } }

    /// Makes the next calls of this kind fail, one per failure, in this order.
    package func fail(_ call: Call, with failures: SyncFailure...) {
        state.withLock { $0.failures[call, default: []] += failures }
    }

    package func refuse(_ key: RecordKey, with failure: SyncFailure) { state.withLock { $0.refusals[key] = failure } }

    package func accept(_ key: RecordKey) { state.withLock { $0.refusals[key] = nil } }

    package func setRole(_ role: HostRole, of host: HostID) {
        state.withLock { state in
            if role == .readOnly { state.lookers.insert(host) } else { state.lookers.remove(host) }
        }
    }

    package func limitBatches(to recordsMax: Int) { state.withLock { $0.recordsMax = recordsMax } }

    /// Sets whether the cloud is reachable. If not, all calls fail and no stream opens.
    package func setReachable(_ isReachable: Bool) {
        state.withLock { $0.isReachable = isReachable }
        if !isReachable { breakStreams() }
    }

    package func breakStreams(because failure: SyncFailure? = nil) {
        for stream in takeStreams() { stream.finish(throwing: failure ?? Self.unreachable) }
    }

    /// Ends every event stream without an error, as a server's shutdown does.
    package func endStreams() {
        for stream in takeStreams() { stream.finish() }
    }

    private func takeStreams() -> [AsyncThrowingStream<CloudEvent, any Error>.Continuation] {
        state.withLock { state in
            defer { state.streams = [:] }
            return state.streams.values.map(\.continuation)
        }
    }

    /// Purges all deleted records, so that earlier change tokens expire.
    package func raiseFloor() {
        state.withLock { state in
            state.floor = state.sequence
            state.records = state.records.filter {
                !$0.value.record.properties.isEmpty || $0.value.record.deletion == nil
            }
        }
    }

    /// Replaces the store by a backup without the records `lost`.
    package func restore(as epoch: String, without lost: [RecordKey] = []) {
        state.withLock { state in
            state.epoch = epoch
            for key in lost { state.records[key] = nil }
        }
    }

    package func copy() -> Copy { state.withLock { Copy(sequence: $0.sequence, records: $0.records) } }

    /// Rolls the store back to an earlier copy. Change tokens issued at a later sequence then fail with `timelineLost`.
    package func putBack(_ copy: Copy) {
        state.withLock { state in
            state.marks[state.mark] = copy.sequence
            state.mark += 1
            (state.sequence, state.records) = (copy.sequence, copy.records)
        }
    }

    package struct Copy: Sendable {
        fileprivate var sequence: Int
        fileprivate var records: [RecordKey: (record: SyncRecord, sequence: Int)]
    }

    package var askedIdentities: [String?] { state.withLock { $0.askedIdentities } }

    /// Writes records as another host, and notifies all hosts.
    package func put(_ records: [SyncRecord], by host: HostID?) {
        _ = merge(records)
        announce(.changed(types: Array(Set(records.map(\.key.type))), host: host))
    }

    package func announce(_ event: CloudEvent) {
        let streams = state.withLock { Array($0.streams.values) }
        for stream in streams { stream.continuation.yield(event) }
    }

    package var records: [RecordKey: SyncRecord] { state.withLock { $0.records.mapValues(\.record) } }
    package var calls: [Call] { state.withLock { $0.calls } }
    package var openStreams: Int { state.withLock { $0.streams.count } }

    // MARK: The cloud

    private static let unreachable = SyncFailure(.network, "no route to the cloud")

    fileprivate func begin(_ call: Call) async throws(SyncFailure) {
        let body = state.withLock { state in
            state.calls.append(call)
            return state.onCall
        }
        await body(call)
        let failure = state.withLock { state -> SyncFailure? in
            guard state.isReachable else { return Self.unreachable }
            return state.failures[call]?.isEmpty == false ? state.failures[call]?.removeFirst() : nil
        }
        if let failure { throw failure }
        if Task.isCancelled { throw SyncFailure(.network, "the call was cancelled") }
    }

    fileprivate func zoneAsked(_ identity: String?) { state.withLock { $0.askedIdentities.append(identity) } }

    fileprivate var account: (epoch: String, zoneID: String?, time: UInt64) {
        let (epoch, zoneID) = state.withLock { ($0.epoch, $0.zoneID) }
        return (epoch, zoneID, UInt64(clamping: loop.wallNow.millisecondsSince1970))
    }

    fileprivate func page(of type: RecordType, since text: String?, limit: Int) throws(SyncFailure) -> ChangesPage {
        let (page, expired) = state.withLock { state -> (ChangesPage?, SyncFailure?) in
            let token =
                text.map { Token($0) }
                ?? Token(epoch: state.epoch, sequence: 0, floor: state.floor, mark: state.mark, read: 0)
            // The token of an initial fetch expires only by a later purge, because the client needs no earlier
            // tombstones.
            guard token.epoch == state.epoch, token.sequence >= state.floor || token.floor >= state.floor else {
                return (
                    nil,
                    SyncFailure(
                        .changeTokenExpired(epoch: state.epoch, zoneID: state.zoneID), "the change token is too old")
                )
            }
            if state.zoneID != nil, let end = state.marks[token.mark], token.read > end {
                let failure = SyncFailure(
                    .timelineLost(epoch: state.epoch, zoneID: state.zoneID), "the store went back behind the token")
                return (nil, failure)
            }
            let newer = state.records.values
                .filter { $0.record.key.type == type && $0.sequence > token.sequence }
                .sorted { $0.sequence < $1.sequence }
            let records = newer.prefix(limit)
            let isLast = records.count == newer.count
            let end = isLast ? state.sequence : records.last?.sequence ?? token.sequence
            let next = Token(
                epoch: state.epoch, sequence: end, floor: token.floor, mark: state.mark, read: state.sequence)
            return (
                ChangesPage(
                    type: type, records: records.map(\.record), token: next.text, moreComing: !isLast,
                    epoch: state.epoch, zoneID: state.zoneID), nil
            )
        }
        if let page { return page }
        throw expired ?? Self.unreachable
    }

    private struct Token {
        var epoch: String
        var sequence: Int
        /// Value of `State.floor` at the start of the initial fetch.
        var floor: Int
        /// Timeline (`State.mark`) in which the change token was issued. The property `read` is the zone's sequence at
        /// that time.
        var mark: Int
        var read: Int

        var text: String { "\(epoch).\(sequence).\(floor).\(mark).\(read)" }

        init(epoch: String, sequence: Int, floor: Int, mark: Int, read: Int) {
            self.epoch = epoch
            self.sequence = sequence
            self.floor = floor
            self.mark = mark
            self.read = read
        }

        init(_ text: String) {
            let parts = text.split(separator: ".").map(String.init)
            epoch = parts.first ?? ""
            sequence = parts.dropFirst().first.flatMap { Int($0) } ?? 0
            floor = parts.dropFirst(2).first.flatMap { Int($0) } ?? 0
            mark = parts.dropFirst(3).first.flatMap { Int($0) } ?? 0
            read = parts.dropFirst(4).first.flatMap { Int($0) } ?? 0
        }
    }

    fileprivate func role(of host: HostID) -> HostRole {
        state.withLock { $0.lookers.contains(host) ? .readOnly : .full }
    }

    fileprivate func modify(_ batch: OutboxBatch, by host: HostID) throws(SyncFailure) -> PushOutcome {
        var (limit, refusals) = state.withLock { ($0.recordsMax, $0.refusals) }
        if role(of: host) == .readOnly {
            for record in batch.records where record.key != RecordKey(type: .host, name: host.description) {
                refusals[record.key] = SyncFailure(.readOnly, "\(record.key.name): this host may only look")
            }
        }
        guard batch.records.count <= limit else {
            throw SyncFailure(.limitExceeded, "\(batch.records.count) records, at most \(limit)")
        }
        let taken = batch.records.filter { refusals[$0.key] == nil }
        let merged = merge(taken)
        if !taken.isEmpty { announce(.changed(types: Array(Set(taken.map(\.key.type))), host: host)) }
        let results = batch.records.map { record in
            PushResult(
                key: record.key, failure: refusals[record.key],
                merged: merged[record.key].flatMap { $0 == record ? nil : $0 })
        }
        return PushOutcome(results: results, serverTime: account.time)
    }

    private func merge(_ records: [SyncRecord]) -> [RecordKey: SyncRecord] {
        state.withLock { state in
            var merged: [RecordKey: SyncRecord] = [:]
            for record in records {
                let before = state.records[record.key]?.record
                let after = before?.merged(with: record) ?? record
                merged[record.key] = after
                guard after != before else { continue }
                state.sequence += 1
                state.records[record.key] = (after, state.sequence)
            }
            return merged
        }
    }

    fileprivate func stream(for host: HostID) -> AsyncThrowingStream<CloudEvent, any Error> {
        let (stream, continuation) = AsyncThrowingStream.makeStream(of: CloudEvent.self, throwing: (any Error).self)
        let number = state.withLock { state -> Int? in
            guard state.isReachable else { return nil }
            state.nextStream += 1
            state.streams[state.nextStream] = (host, continuation)
            return state.nextStream
        }
        guard let number else {
            continuation.finish(throwing: Self.unreachable)
            return stream
        }
        continuation.onTermination = { [weak self] _ in
            _ = self?.state.withLock { $0.streams.removeValue(forKey: number) }
        }
        continuation.yield(.opened)
        return stream
    }

    private struct Link: CloudLink {
        let cloud: ScriptedCloud
        let host: HostID

        func account() async throws(SyncFailure) -> CloudAccount {
            try await cloud.begin(.account)
            let (epoch, zoneID, time) = cloud.account
            var account = CloudAccount(
                zone: cloud.zone, host: host, hostName: "host", serverTime: time, epoch: epoch, policy: "keep",
                zoneID: zoneID)
            account.role = cloud.role(of: host)
            return account
        }

        func createZone(_ zone: String, id: String?) async throws(SyncFailure) {
            try await cloud.begin(.createZone)
            cloud.zoneAsked(id)
        }

        func changes(of type: RecordType, since token: String?, limit: Int) async throws(SyncFailure) -> ChangesPage {
            try await cloud.begin(.changes)
            return try cloud.page(of: type, since: token, limit: limit)
        }

        func modify(_ batch: OutboxBatch) async throws(SyncFailure) -> PushOutcome {
            try await cloud.begin(.modify)
            return try cloud.modify(batch, by: host)
        }

        func events() -> AsyncThrowingStream<CloudEvent, any Error> { cloud.stream(for: host) }
    }
}
