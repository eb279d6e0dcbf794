import Domain
import Gateway
import GatewayAPI
import MeterCodec
import MeterSimulator
import MeterTestKit
import Synchronization
import Testing

/// A load in a session: asked step by step, told things, and asked whether it took them. In virtual time.
@Suite(.timeLimit(.minutes(10)))
struct SessionReadBackTests {
    private let host = VirtualHost()

    private func session(_ change: (inout SimulatedDL24.Quirks) -> Void = { _ in }) async throws -> DeviceSession {
        var quirks = SimulatedDL24.Quirks()
        (quirks.losesOneIn, quirks.losesCollisions) = (0, false)
        change(&quirks)
        host.links.plug(SimulatedDL24(quirks: quirks), at: .port)
        let session = host.session(.dl24)
        await session.appeared(.of(.dl24))
        host.loop.advance(by: .seconds(8))
        return session
    }

    /// Has it do something while time passes, and says what came of it.
    private func perform(
        _ command: MeterCommand, _ session: DeviceSession, meanwhile: (Duration) async -> Void = { _ in }
    ) async throws -> GatewayError? {
        let outcome = Mutex<Result<Void, GatewayError>?>(nil)
        let task = Task {
            do throws(GatewayError) {
                try await session.perform(command)
                outcome.withLock { $0 = .success(()) }
            } catch {
                outcome.withLock { $0 = .failure(error) }
            }
        }
        let start = host.loop.now
        try await eventually("it is over") {
            if outcome.withLock({ $0 != nil }) { return true }
            host.loop.advance(by: .milliseconds(50))
            await meanwhile(host.loop.now - start)
            return false
        }
        await task.value
        guard case .failure(let error)? = outcome.withLock({ $0 }) else { return nil }
        return error
    }

    private func orders() -> [[UInt8]] {
        host.links.writes(to: .port).map(\.bytes).filter { $0.count == 6 && $0[2] < 0x10 }
    }

    /// Reports come and no question is answered: the second way to its line is tried, and remembered for the next link.
    @Test func loadThatHearsTheSecondWayAlone_isAskedThatWay() async throws {
        host.links.makeFirstOutputDeaf(at: .port)
        let session = try await session { $0.startsOn = true }
        host.loop.advance(by: .seconds(30))
        #expect(await session.told()?.details["queries"] == .text("answered"))

        await session.vanished(from: .serial(path: .port))
        let timeouts = await session.status().counters.timeouts
        await session.appeared(.of(.dl24))
        host.loop.advance(by: .seconds(5))
        #expect(await session.told()?.details["queries"] == .text("answered"))
        // The first way would have to time out before the second is tried.
        #expect(await session.status().counters.timeouts == timeouts)
    }

    @Test func load_givesAReadingASecond_andNothingIsLate() async throws {
        let session = try await session { $0.startsOn = true }
        let before = await session.status()
        #expect(before.state == "data-available")
        host.loop.advance(by: .seconds(30))
        let after = await session.status()
        #expect((29...31).contains(after.counters.readings - before.counters.readings))
        #expect(after.counters.timeouts == 0 && after.counters.skipped_bytes == 0)
        #expect(after.reading?.reading[.current] == 1)
        #expect(after.told?.details["queries"] == .text("answered"))
        #expect(after.model == "DL24")
        // One question each 200 ms, one at a time.
        let times = host.links.writes(to: .port).suffix(20).map(\.time)
        #expect(zip(times, times.dropFirst()).allSatisfy { $1 - $0 == .milliseconds(200) })
    }

    @Test func loadThatAnswersNothing_isNeverLate() async throws {
        let session = try await session { ($0.answersQueries, $0.startsOn) = (false, true) }
        host.loop.advance(by: .seconds(30))
        let before = await session.status()
        #expect(before.state == "data-available" && before.told?.details["queries"] == .text("no answer"))
        host.loop.advance(by: .seconds(25))
        #expect(await session.status().counters.timeouts - before.counters.timeouts <= 1)
        #expect(await session.status().counters.readings - before.counters.readings == 25)
    }

    @Test func command_isOver_whenTheLoadSaysThatItTookIt() async throws {
        let session = try await session()
        let start = host.loop.now
        #expect(try await perform(MeterCommand(.loadCurrent, 1500), session) == nil)
        #expect(try await perform(MeterCommand(.loadOn), session) == nil)
        #expect(host.loop.now - start < .seconds(4))
        #expect(orders() == [PX100Order.current(150).bytes, PX100Order.isOn(true).bytes])
        host.loop.advance(by: .seconds(3))
        #expect(await session.status().reading?.reading[.current] == 1.5)
    }

    @Test func lostOrder_isSentAgain() async throws {
        let session = try await session { $0.ignoresOrders = 2 }
        #expect(try await perform(MeterCommand(.loadOn), session) == nil)
        #expect(orders().count == 3)
    }

    @Test func orderThatIsNotTaken_isSaid_afterThreeTimes() async throws {
        let session = try await session { $0.ignoresOrders = 99 }
        let error = try #require(try await perform(MeterCommand(.loadOn), session))
        #expect(error.code == .refused)
        #expect(error.message == "load-on was sent to \(MeterID.um) 3 times, but the meter reports load-off")
        #expect(orders().count == 3)
        let other = try #require(try await perform(MeterCommand(.loadCurrent, 20), session))
        #expect(
            other.message
                == "load-current 20 was sent to \(MeterID.um) 3 times, but the meter reports load-current 1000")
    }

    @Test func linkThatIsLostMeanwhile_leavesItOpen() async throws {
        let session = try await session()
        let error = try #require(
            try await perform(MeterCommand(.loadOn), session) { passed in
                if passed == .milliseconds(300) { host.links.unplug(.port) }
            })
        #expect(error.code == .notConnected)
        #expect(error.message.contains("after load-on was sent, so its outcome is unknown"))
    }

    @Test func silentLoad_isNotSwitchedOn() async throws {
        let session = try await session { ($0.answersQueries, $0.startsOn) = (false, true) }
        host.loop.advance(by: .seconds(30))
        let error = try #require(try await perform(MeterCommand(.loadOn), session))
        #expect(error.code == .badRequest && error.message.contains("answers no query"))
        #expect(orders().isEmpty)
        // Off is sent, and nobody says that it was taken.
        let off = try #require(try await perform(MeterCommand(.loadOff), session))
        #expect(off.message.hasSuffix("3 times, but the meter did not confirm it"))
    }

    @Test func commandWithoutReadBack_isOverWhenItIsSent() async throws {
        let session = try await session { $0.ignoresOrders = 99 }
        #expect(try await perform(MeterCommand(.clearAll), session) == nil)
        #expect(orders() == [PX100Order.resetCounters.bytes])
    }
}
