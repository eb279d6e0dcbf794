import Domain
import Gateway
import GatewayAPI
import MeterCodec
import MeterSimulator
import MeterTestKit
import Testing

/// The transitions between the states, in virtual time.
@Suite(.timeLimit(.minutes(10)))
struct SessionStateTests {
    private let host = VirtualHost()

    @Test(arguments: [ModelName.um24c, .um25c, .um34c, .tc66c, .km003c, .atorchUSB])
    func allSevenStates_arePassedInOrder_onTheWayToData(model: ModelName) async throws {
        let session = try await host.pluggedIn(model)
        host.loop.advance(by: .seconds(3))

        let transitions = host.transitions()
        #expect(transitions.first?.from == "offline")
        #expect(transitions.map(\.to) == ConnectionState.allCases.dropFirst().map(\.rawValue))
        #expect(zip(transitions, transitions.dropFirst()).allSatisfy { $0.to == $1.from })
        #expect(await host.leave(session) == .none)
    }

    @Test func meterThatPushes_isNeverAsked() async throws {
        let session = try await host.pluggedIn(.atorchUSB)
        host.loop.advance(by: .seconds(10))

        #expect(await session.status().counters.readings >= 9)
        #expect(host.links.written(to: .port).isEmpty)
        #expect(await session.status().poll_interval_ms == nil)
        #expect(await host.leave(session) == .none)
    }

    @Test func unwantedMeter_isShown_andLeftAlone() async throws {
        let session = try await host.pluggedIn(.um25c, isWanted: false)
        host.loop.advance(by: .seconds(3600))

        #expect(await session.state == "not-connected")
        #expect(host.links.attempts == 0)
        #expect(host.loop.pendingTimers == 0)
    }

    @Test func silence_isCommunicatingAfterTheStaleTime_andOfflineAfterTheSilenceTime() async throws {
        let session = try await host.pluggedIn(.um25c)
        host.loop.advance(by: .milliseconds(20))
        try #require(await session.state == "data-available")

        host.links.setFaults(SimulatorFaults(.silence), at: .port)
        host.loop.advance(by: .milliseconds(2999))
        #expect(await session.state == "data-available")
        host.loop.advance(by: .milliseconds(1))
        #expect(await session.state == "communicating")
        host.loop.advance(by: .milliseconds(11_999))
        #expect(await session.state == "communicating")
        host.loop.advance(by: .milliseconds(1))
        #expect(await session.state == "offline")
        #expect(host.links.openChannels == 0)
        let status = await session.status()
        #expect(status.counters.disconnects == 1)
        #expect(status.error == "no valid answer for 15 s")
    }

    @Test func silentMeter_isTriedForEver_atMostABackoffApart() async throws {
        let session = try await host.pluggedIn(.um25c)
        host.links.setFaults(SimulatorFaults(.silence), at: .port)
        var attemptsByHour: [Int] = []
        for _ in 0..<6 {
            let before = host.links.attempts
            host.loop.advance(by: .seconds(3600))
            attemptsByHour.append(host.links.attempts - before)
        }

        // One attempt takes 15 s of silence, half a second to settle, and at most 72 s of back-off.
        let times = host.links.attemptTimes(at: .port)
        #expect(zip(times, times.dropFirst()).allSatisfy { $1 - $0 <= .milliseconds(15_000 + 500 + 72_000) })
        #expect(attemptsByHour.allSatisfy { $0 >= 40 })
        #expect(host.links.openChannels <= 1)

        host.links.setFaults(.none, at: .port)
        host.loop.advance(by: .seconds(90))
        #expect(await session.state == "data-available")
        #expect(await session.status().error == nil)
        #expect(await host.leave(session) == .none)
    }

    @Test func refusedMeter_isTriedForEver_withABackoffThatGrowsToItsCap() async throws {
        host.links.refuse(.port, with: ChannelFailure(.busy, "somebody else has /dev/ttyUSB0 open"))
        let session = try await host.pluggedIn(.um25c)
        host.loop.advance(by: .seconds(6 * 3600))

        let times = host.links.attemptTimes(at: .port)
        let gaps = zip(times, times.dropFirst()).map { $1 - $0 }
        #expect(gaps.count > 300)
        #expect(gaps.allSatisfy { $0 <= .seconds(72) })
        // 1 s, 2 s, 4 s …, each with up to a fifth more or less, until 60 s.
        for (number, gap) in gaps.prefix(6).enumerated() {
            let nominal = Duration.seconds(1 << number)
            #expect(gap >= nominal * 4 / 5 && gap <= nominal * 6 / 5)
        }
        #expect(gaps.dropFirst(6).allSatisfy { $0 >= .seconds(48) })
        #expect(Set(gaps.dropFirst(6)).count > 100, "no jitter")
        let status = await session.status()
        #expect(status.state == "not-connected")
        #expect(status.error == "somebody else has /dev/ttyUSB0 open")
        #expect(status.counters.connects == 0)
        #expect(status.counters.disconnects == 0)
        #expect(await host.leave(session) == .none)
    }

    @Test func linkThatNeverOpens_isGivenUpAfterTenSeconds_andIsNoLostLink() async throws {
        host.links.makeStuck(.port)
        let session = try await host.pluggedIn(.um25c)
        host.loop.advance(by: .milliseconds(9999))
        #expect(await session.state == "connecting")
        host.loop.advance(by: .milliseconds(1))

        let status = await session.status()
        #expect(status.state == "not-connected")
        #expect(status.counters.disconnects == 0)
        #expect(status.error == "the link did not open within 10 s")
        #expect(host.links.openChannels == 0)
        #expect(try #require(status.retry_in_ms) <= 1200)
    }

    @Test func unplugging_isOfflineAtOnce_andPluggingInBringsDataBack() async throws {
        let session = try await host.pluggedIn(.um25c)
        host.loop.advance(by: .seconds(5))

        host.links.unplug(.port)
        #expect(await session.state == "offline")
        await session.vanished(from: .serial(path: .port))
        host.loop.advance(by: .seconds(3600))
        #expect(await session.state == "offline")
        #expect(host.links.attempts == 1)

        host.links.plug(try #require(SimulatorCatalogue.standard.meter(.um25c)), at: .port)
        await session.appeared(.of(.um25c))
        host.loop.advance(by: .milliseconds(50))
        let status = await session.status()
        #expect(status.state == "data-available")
        #expect(status.counters.disconnects == 1)
        #expect(status.counters.connects == 2)
        #expect(await host.leave(session) == .none)
    }

    @Test func vanishing_countsAsOneLostLink_whoeverTellsItFirst() async throws {
        let session = try await host.pluggedIn(.um25c)
        host.loop.advance(by: .seconds(5))

        await session.vanished(from: .serial(path: .port))
        host.links.unplug(.port)
        host.loop.advance(by: .seconds(5))

        #expect(await session.state == "offline")
        #expect(await session.status().counters.disconnects == 1)
    }

    @Test func vanishing_ofAnOldPort_isNoLossOfTheNewOne() async throws {
        let session = try await host.pluggedIn(.um25c, at: "/dev/ttyUSB0")
        host.loop.advance(by: .seconds(5))
        host.links.unplug("/dev/ttyUSB0")
        host.links.plug(try #require(SimulatorCatalogue.standard.meter(.um25c)), at: "/dev/ttyUSB1")
        await session.appeared(.of(.um25c, at: "/dev/ttyUSB1"))
        host.loop.advance(by: .seconds(5))

        await session.vanished(from: .serial(path: "/dev/ttyUSB0"))

        #expect(await session.state == "data-available")
    }

    @Test func usersDisconnect_inhibitsReconnecting_untilTheNextConnect() async throws {
        let session = try await host.pluggedIn(.um25c)
        host.loop.advance(by: .seconds(5))

        await session.disconnect()
        #expect(await session.state == "not-connected")
        #expect(Leftovers(on: host.loop, host.links) == .none)
        await session.vanished(from: .serial(path: .port))
        await session.appeared(.of(.um25c))
        host.loop.advance(by: .seconds(24 * 3600))
        #expect(await session.state == "not-connected")
        #expect(host.links.attempts == 1)

        await session.connect()
        host.loop.advance(by: .milliseconds(50))
        #expect(await session.state == "data-available")
    }

    @Test func connect_triesAtOnce_inTheMiddleOfABackoff() async throws {
        host.links.refuse(.port, with: ChannelFailure(.busy, "busy"))
        let session = try await host.pluggedIn(.um25c)
        host.loop.advance(by: .seconds(3600))
        host.links.refuse(.port, with: nil)

        await session.connect()
        host.loop.advance(by: .milliseconds(50))

        #expect(await session.state == "data-available")
    }

    @Test func meterInItsLoader_answers_andHasNoData() async throws {
        host.links.plug(SimulatedTC66(model: .tc66c, mode: .boot), at: .port)
        let session = host.session(.tc66c)
        await session.appeared(.of(.tc66c))
        host.loop.advance(by: .seconds(10))

        let status = await session.status()
        #expect(status.state == "communicating")
        #expect(status.counters.readings == 0)
        #expect(status.counters.rejected == 1)
        #expect(status.reading == nil)
        host.loop.advance(by: .seconds(3600))
        #expect(!host.transitions().contains { $0.to == "data-available" })
    }

    @Test func meterWithoutModel_saysWhatToDo_andOpensNothing() async throws {
        let session = host.session(nil)
        await session.appeared(.of(nil))
        host.loop.advance(by: .seconds(60))

        let status = await session.status()
        #expect(status.error?.contains("--model") == true)
        #expect(status.model == nil)
        #expect(host.links.attempts == 0)
    }

    @Test func anotherModelBehindThePort_getsANewLink() async throws {
        let session = try await host.pluggedIn(.um25c)
        host.loop.advance(by: .seconds(5))
        host.links.plug(try #require(SimulatorCatalogue.standard.meter(.km003c)), at: .port)

        await session.appeared(.of(.km003c))
        host.loop.advance(by: .seconds(1))

        let status = await session.status()
        #expect(status.model == "KM003C")
        #expect(status.state == "data-available")
        #expect(status.counters.connects == 2)
        #expect(host.links.openChannels == 1)
        #expect(await host.leave(session) == .none)
    }

    @Test func anotherMetersFailure_changesNothing_forThisOne() async throws {
        let alone = VirtualHost()
        let control = try await alone.pluggedIn(.um25c)
        alone.loop.advance(by: .seconds(600))

        let session = try await host.pluggedIn(.um25c)
        let silent = try await host.pluggedIn(.tc66c, id: .tc, at: "/dev/ttyACM0")
        host.links.setFaults(SimulatorFaults(.silence), at: "/dev/ttyACM0")
        host.loop.advance(by: .seconds(300))
        host.links.refuse("/dev/ttyACM0", with: ChannelFailure(.busy, "busy"))
        host.loop.advance(by: .seconds(300))

        #expect(await session.status() == control.status())
        #expect(await silent.status().counters.readings == 0)
        #expect(host.links.written(to: .port) == alone.links.written(to: .port))
        #expect(await host.leave(session, silent) == .none)
    }

    @Test(arguments: [Duration.seconds(86_400), .seconds(-86_400)])
    func steppingTheCalendar_disturbsNeitherStatesNorAges(step: Duration) async throws {
        let session = try await host.pluggedIn(.um25c)
        host.loop.advance(by: .seconds(5))
        let changes = host.transitions().count
        let readings = await session.status().counters.readings

        host.loop.stepWallClock(by: step)
        host.loop.advance(by: .seconds(5))

        let status = await session.status()
        #expect(host.transitions().count == changes)
        #expect(status.counters.readings == readings + 10)
        #expect(try #require(status.age_ms) <= 500)
        #expect(status.counters.timeouts == 0)
    }
}
