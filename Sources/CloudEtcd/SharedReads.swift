import Synchronization

/// Reads single keys for many callers. While one read is in progress, further keys gather and then share one request.
/// The result was valid at some moment after the call began.
final class SharedReads: Sendable {
    private typealias Caller = CheckedContinuation<Result<EtcdEntry?, EtcdError>, Never>

    private struct State {
        var wishes: [[UInt8]: [Caller]] = [:]
        var line: [[UInt8]] = []
        var readers = 0
    }

    /// Maximum number of concurrent reads: with more, fewer callers would share a request.
    private static let readersMax = 2
    private static let keysMax = 100

    private let client: EtcdClient
    private let work: SharedWork
    private let state = Mutex(State())

    init(client: EtcdClient, work: SharedWork) {
        self.client = client
        self.work = work
    }

    func entry(_ key: [UInt8]) async throws(EtcdError) -> EtcdEntry? {
        let result = await withCheckedContinuation { continuation in
            let isReaderMissing = state.withLock { state in
                if state.wishes[key] == nil { state.line.append(key) }
                state.wishes[key, default: []].append(continuation)
                guard state.readers < Self.readersMax else { return false }
                state.readers += 1
                return true
            }
            if isReaderMissing { work.begin { [self] in await readAll() } }
        }
        return try result.get()
    }

    private func readAll() async {
        while let wishes = take() {
            let result: Result<[EtcdRangeAnswer], EtcdError>
            do throws(EtcdError) {
                result = .success(try await client.read(wishes.map { EtcdRange(key: $0.key) }).ranges)
            } catch {
                result = .failure(error)
            }
            for (index, wish) in wishes.enumerated() {
                for caller in wish.callers { caller.resume(returning: result.map { $0[index].entries.first }) }
            }
        }
    }

    private func take() -> [(key: [UInt8], callers: [Caller])]? {
        state.withLock { state in
            guard !state.line.isEmpty else {
                state.readers -= 1
                return nil
            }
            let keys = state.line.prefix(Self.keysMax)
            state.line.removeFirst(keys.count)
            return keys.map { ($0, state.wishes.removeValue(forKey: $0) ?? []) }
        }
    }
}
