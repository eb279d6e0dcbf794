import Cloud
import Domain
import MeterTestKit
import Testing

struct VirtualCloudClockTests {
    @Test func sleep_ends_whenItsTimeHasCome() async throws {
        let time = VirtualCloudClock()
        let clock = time.clock
        let end = time.now + .seconds(5)

        let sleeper = Task { try await clock.sleep(end) }
        await time.began(sleeps: 1)
        time.advance(by: .seconds(5))
        try await sleeper.value

        #expect(time.now == end)
        try await clock.sleep(end)
    }

    @Test func sleep_throws_whenItsTaskIsCancelled() async throws {
        let time = VirtualCloudClock()
        let clock = time.clock

        let sleeper = Task { try await clock.sleep(clock.now() + .seconds(5)) }
        sleeper.cancel()

        await #expect(throws: CancellationError.self) { try await sleeper.value }
    }
}
