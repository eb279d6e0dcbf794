import Synchronization

/// Reads single keys for many callers at once: while one read is under way, the next keys gather and share one request.
///
/// The result was valid at some moment after the call began.
final class SharedReads: Sendable {
    private struct Wish: Sendable {
        var key: [UInt8]
        var continuation: CheckedContinuation<Result<EtcdEntry?, EtcdError>, Never>
    }

    private struct State {
        var wishes: [Wish] = []
        var readers = 0
    }

    /// With more readers, fewer callers would share a request.
    private static let readersMax = 2
    private static let keysMax = 100

    private let client: EtcdClient
    private let work: SharedWork
    private let state = Mutex(State())

    init(client: EtcdClient, work: SharedWork) {
        self.client = client
        self.work = work
    }

    /// - Returns: nil if there is no such key.
    func entry(_ key: [UInt8]) async throws(EtcdError) -> EtcdEntry? {
        let result = await withCheckedContinuation { continuation in
            let isReaderMissing = state.withLock { state in
                state.wishes.append(Wish(key: key, continuation: continuation))
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
                wish.continuation.resume(returning: result.map { $0[index].entries.first })
            }
        }
    }

    private func take() -> [Wish]? {
        state.withLock { state in
            guard !state.wishes.isEmpty else {
                state.readers -= 1
                return nil
            }
            let wishes = Array(state.wishes.prefix(Self.keysMax))
            state.wishes.removeFirst(wishes.count)
            return wishes
        }
    }
}
