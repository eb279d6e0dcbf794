import Cloud
import Domain
import LinuxIO
import Logging
import MeterTestKit
import ProgramKit
import Synchronization
import Testing

/// What systemd hears of a program over time: virtual time, a real socket.
@Suite(.timeLimit(.minutes(10)))
struct ServiceReportTests {
    private let socket: NotifySocket
    private let clock = VirtualCloudClock()
    private let log = LogBook()

    init() throws { socket = try NotifySocket(.abstract) }

    private func report(_ parts: [@Sendable () async -> Void], status: String = "fine") throws -> ServiceReport {
        let manager = try #require(
            ServiceManager(environment: ["NOTIFY_SOCKET": socket.name, "WATCHDOG_USEC": "30000000"]))
        let clock = clock.clock
        return ServiceReport(
            to: manager, parts: parts, status: { status }, sleep: { try await clock.sleep(clock.now() + $0) },
            logger: log.logger)
    }

    @Test func interval_leavesRoomForTwoThatAreLost() {
        #expect(ServiceReport.interval(for: .seconds(30)) == .seconds(10))
        #expect(ServiceReport.interval(for: nil) == .seconds(20))
    }

    @Test func programThatMoves_isReportedAlive_againAndAgain_andThatItStops() async throws {
        let report = try report([{}], status: "2 meters")
        let running = Task { try await report.run() }
        await clock.began(sleeps: 1)
        #expect(socket.receive() == "STATUS=2 meters\nWATCHDOG=1")
        #expect(socket.receive() == nil)

        clock.advance(by: .milliseconds(9_999))
        #expect(socket.receive() == nil)
        clock.advance(by: .milliseconds(1))
        await clock.began(sleeps: 2)
        #expect(socket.receive() == "STATUS=2 meters\nWATCHDOG=1")

        running.cancel()
        try await running.value
        #expect(socket.receive() == "STOPPING=1")
        #expect(socket.receive() == nil)
    }

    @Test func readiness_isToldWhenItIsSaid() throws {
        try report([]).ready()

        #expect(socket.receive() == "READY=1")
    }

    /// The one thing that the watchdog is for.
    @Test func loopThatHangs_isNotFed_andFedAgainOnceItTurns() async throws {
        let loop = VirtualLoop()
        let report = try report([{ await loop.turn() }])
        let running = Task { try await report.run() }

        await loop.timers(reach: 1)
        clock.advance(by: .seconds(3600))
        #expect(socket.receive() == nil)

        loop.advance(by: .seconds(1))
        await clock.began(sleeps: 1)
        #expect(socket.receive() == "STATUS=fine\nWATCHDOG=1")

        clock.advance(by: .seconds(10))
        await loop.timers(reach: 1)
        clock.advance(by: .seconds(3600))
        #expect(socket.receive() == nil)

        loop.advance(by: .seconds(1))
        await clock.began(sleeps: 2)
        #expect(socket.receive() == "STATUS=fine\nWATCHDOG=1")
        running.cancel()
        try await running.value
    }

    /// All of them: one that moves does not hide another that does not.
    @Test func oneOfTwoLoopsHangs_andNothingIsFed() async throws {
        let (moving, stuck) = (VirtualLoop(), VirtualLoop())
        let report = try report([{ await moving.turn() }, { await stuck.turn() }])
        let running = Task { try await report.run() }

        await moving.timers(reach: 1)
        moving.advance(by: .seconds(1))
        await stuck.timers(reach: 1)
        #expect(socket.receive() == nil)

        stuck.advance(by: .seconds(1))
        await clock.began(sleeps: 1)
        #expect(socket.receive() == "STATUS=fine\nWATCHDOG=1")
        running.cancel()
        try await running.value
    }

    @Test func managerThatIsGone_isLogged_andTheProgramGoesOn() async throws {
        let report: ServiceReport
        do {
            let gone = try NotifySocket(.path)
            let manager = try #require(ServiceManager(environment: ["NOTIFY_SOCKET": gone.name]))
            let clock = clock.clock
            report = ServiceReport(
                to: manager, parts: [], status: { "" }, sleep: { try await clock.sleep(clock.now() + $0) },
                logger: log.logger)
        }
        let running = Task { try await report.run() }
        await clock.began(sleeps: 1)
        clock.advance(by: .seconds(20))
        await clock.began(sleeps: 2)

        running.cancel()
        try await running.value
        #expect(log.entries(saying: "service manager not notified").count == 3)
    }
}
