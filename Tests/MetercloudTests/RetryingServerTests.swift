import MeterTestKit
import ServiceLifecycle
import Synchronization
import Testing

@testable import CloudHosting

struct RetryingServerTests {
    private struct Taken: Error, Equatable {}

    /// Cannot listen so many times, then ends well.
    private final class Door: Sendable {
        struct Counts: Equatable {
            var made = 0
            var told = 0
            var waited = 0
        }

        struct Attempt: Service {
            let isTaken: Bool

            func run() async throws { if isTaken { throw Taken() } }
        }

        let counts = Mutex(Counts())
        let takenTimes: Int

        init(takenTimes: Int) { self.takenTimes = takenTimes }

        func server(isPatient: Bool = true) -> RetryingServer {
            RetryingServer(
                make: { [self] in
                    counts.withLock { counts in
                        counts.made += 1
                        return Attempt(isTaken: counts.made <= takenTimes)
                    }
                },
                failed: isPatient ? { @Sendable [self] _ in counts.withLock { $0.told += 1 } } : nil,
                wait: { [self] in counts.withLock { $0.waited += 1 } })
        }
    }

    @Test func takenPort_isTriedAgain_withAPauseAfterEachTime() async throws {
        let door = Door(takenTimes: 3)

        try await door.server().run()

        #expect(door.counts.withLock { $0 } == .init(made: 4, told: 3, waited: 3))
    }

    @Test func withoutPatience_theFailureIsThrown() async {
        let door = Door(takenTimes: 1)

        await #expect(throws: Taken()) { try await door.server(isPatient: false).run() }
        #expect(door.counts.withLock { $0 } == .init(made: 1))
    }

    @Test func serverThatRan_isNotBegunAgain() async throws {
        let door = Door(takenTimes: 0)

        try await door.server().run()

        #expect(door.counts.withLock { $0 } == .init(made: 1))
    }

    @Test func cancelled_itEndsInsteadOfTryingOn() async {
        let door = Door(takenTimes: .max)
        let (begun, sink) = AsyncStream.makeStream(of: Void.self)
        var server = door.server()
        server.wait = {
            sink.finish()
            // Until it is cancelled.
            for await _ in AsyncStream<Void>.makeStream().stream {}
        }
        let task = Task { [server] in try? await server.run() }
        for await _ in begun {}
        task.cancel()
        await task.value

        #expect(door.counts.withLock { $0.made } == 1)
    }
}
