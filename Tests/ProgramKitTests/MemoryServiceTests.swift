import Cloud
import Domain
import Glibc
import LinuxIO
import MeterTestKit
import ProgramKit
import Testing

@Suite(.timeLimit(.minutes(10)))
struct MemoryServiceTests {
    private func resident() throws -> Int { Int(try #require(ProcessFigures.current).residentBytes) }

    /// 128 MB in small blocks, of which the last one stays in use, so that glibc keeps what lies before it.
    private func fillAndFree() -> UnsafeMutableRawPointer? {
        let blocks = (0..<128 * 1024).map { _ in memset(malloc(1000), 1, 1000) }
        for block in blocks.dropLast() { free(block) }
        return blocks.last ?? nil
    }

    @Test func freedMemory_isGivenBack_onceAMinute() async throws {
        let clock = VirtualCloudClock()
        let service = MemoryService { [clock = clock.clock] in try await clock.sleep(clock.now() + $0) }
        let running = Task { try await service.run() }
        await clock.began(sleeps: 1)
        let last = fillAndFree()
        let before = try resident()

        clock.advance(by: .seconds(60))
        await clock.began(sleeps: 2)

        #expect(try before - resident() > 64 << 20)
        free(last)
        running.cancel()
        try await running.value
    }
}
