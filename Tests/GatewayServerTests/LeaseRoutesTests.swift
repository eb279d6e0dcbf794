import Domain
import Gateway
import GatewayAPI
import GatewayServer
import Hummingbird
import MeterSimulator
import MeterTestKit
import Testing

@Suite(.timeLimit(.minutes(10)))
struct LeaseRoutesTests {
    private let bench = ServerBench()
    private let own = HostID(high: 0x4000, low: 1)
    private let other = HostID(high: 0x4000, low: 2)

    private func who(_ keeper: LeaseKeeper?) async throws -> Answer {
        try await bench.request(
            .get, "/v1/leases",
            with: [LeaseRoutes(directory: bench.directory, settings: bench.settings, keeper: { keeper })])
    }

    private var keeper: LeaseKeeper {
        LeaseKeeper(
            identity: LeaseKeeper.Identity(host: own, hostName: "pi", session: SessionID(high: 1, low: 1)),
            authority: NoAuthority(), zonePolicy: .keep, loop: bench.loop, rng: SplitMix64(seed: 7),
            logger: bench.log.logger)
    }

    private func lease(
        _ state: LeaseView.State, holder: HostID?, name: String?, remaining: Duration, waiting: [String] = []
    ) -> LeaseView {
        LeaseView(
            meter: ServerBench.id, state: state, holder: holder, holderName: name, token: FencingToken(rawValue: 42),
            terms: .standard, transport: .usb, acquiredAt: "2026-05-28T20:26:40.000Z", remaining: remaining,
            waiting: waiting)
    }

    @Test func who_isEmpty_andSaysSo_forAHostOnItsOwn() async throws {
        #expect(try await who(nil).text == #"{"joined":false,"leases":[]}"#)
    }

    @Test func who_namesTheHolder_andTheMeterAsThisHostKnowsIt() async throws {
        try await bench.plugIn()
        let keeper = keeper
        await keeper.handle(
            .lease(lease(.held, holder: other, name: "pi-kitchen", remaining: .seconds(57), waiting: ["pi-attic"])))

        let answer = try await who(keeper)

        #expect(
            answer.text
                == #"{"joined":true,"leases":[{"holder":"pi-kitchen","#
                + #""holder_id":"\#(other)","meter":"02:00:00:00:25:0C","mine":false,"model":"UM25C","#
                + #""name":null,"policy":"keep","remaining_ms":57000,"since":"2026-05-28T20:26:40.000Z","#
                + #""state":"held","token":42,"transport":"usb","waiting":["pi-attic"]}]}"#)
    }

    @Test func who_namesAMeterThatIsNotHere() async throws {
        _ = try await bench.settings.set(["name": "Attic meter"], of: ServerBench.id, for: nil)
        let keeper = keeper
        await keeper.handle(.lease(lease(.held, holder: other, name: "pi-kitchen", remaining: .seconds(57))))

        let leases = try await who(keeper).decode(WhoBody.self).leases

        #expect(leases.map(\.name) == ["Attic meter"])
    }

    @Test func who_countsDownOnItsOwnClock_untilItIsExpired() async throws {
        let keeper = keeper
        await keeper.handle(.lease(lease(.held, holder: other, name: "pi-kitchen", remaining: .seconds(57))))

        bench.loop.advance(by: .seconds(7))
        let early = try await who(keeper).decode(WhoBody.self).leases
        bench.loop.advance(by: .seconds(60))
        let late = try await who(keeper).decode(WhoBody.self).leases

        #expect(early.map(\.remaining_ms) == [50_000])
        #expect(late.map(\.remaining_ms) == [0])
        #expect(late.map(\.state) == ["expired"])
    }

    @Test func meterThatSomebodyWaitsFor_isNobodys() async throws {
        let keeper = keeper
        await keeper.handle(.lease(lease(.free, holder: nil, name: nil, remaining: .zero, waiting: ["pi-attic"])))

        let leases = try await who(keeper).decode(WhoBody.self).leases

        #expect(leases.map(\.state) == ["none"])
        #expect(leases.map(\.waiting) == [["pi-attic"]])
        #expect(leases.map(\.holder) == [nil])
        #expect(leases.map(\.mine) == [false])
    }
}

/// A cloud that cannot be reached.
struct NoAuthority: LeaseAuthority {
    private let failure = SyncFailure(.network, "there is none")

    func acquire(_ request: LeaseAcquire, of meter: MeterID) async throws(SyncFailure) -> AcquireOutcome {
        throw failure
    }

    func renew(_ leases: [HeldLease], session: SessionID) async throws(SyncFailure) -> [RenewOutcome] { throw failure }
    func release(_ lease: HeldLease, session: SessionID) async throws(SyncFailure) { throw failure }
    func leases() async throws(SyncFailure) -> [LeaseView] { throw failure }
    func enqueue(for meter: MeterID, session: SessionID) async throws(SyncFailure) { throw failure }
    func leaveQueue(for meter: MeterID, session: SessionID) async throws(SyncFailure) { throw failure }
}
