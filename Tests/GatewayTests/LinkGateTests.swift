import Domain
import Gateway
import GatewayAPI
import MeterCodec
import MeterTestKit
import Synchronization
import Testing

/// What a session does with a permission by itself, with a gate that says nothing more.
@Suite(.timeLimit(.minutes(10)))
struct LinkGateTests {
    private let host = VirtualHost()
    private let gate = MuteGate()

    /// Rule 2: the watchdog depends on nobody.
    @Test func strictPermission_endsByItself_andNothingIsSentAfterIt() async throws {
        let session = try await host.pluggedIn(.um25c, gate: gate)
        host.loop.result { [gate] in gate.permit(.leased(LeasePermit.strict)) }
        host.loop.advance(by: .milliseconds(107_999))
        #expect(host.links.openChannels == 1)

        host.loop.advance(by: .milliseconds(1))

        #expect(host.links.openChannels == 0)
        #expect(gate.said == [.ask, .linkUp, .channelClosed(.letGo), .ask])
        host.loop.advance(by: .seconds(1000))
        let last = host.links.writes(to: .port).last?.time
        #expect(try #require(last) < .origin + .seconds(108))
        #expect(host.links.attempts == 1)
        #expect(await host.leave(session) == .none)
    }

    @Test func keptPermission_doesNotEnd() async throws {
        let session = try await host.pluggedIn(.um25c, gate: gate)
        host.loop.result { [gate] in gate.permit(.leased(LeasePermit.keep)) }
        host.loop.advance(by: .seconds(3600))

        #expect(host.links.openChannels == 1)
        #expect(await host.leave(session) == .none)
        #expect(gate.said.last == .cancel)
    }

    @Test func newerPermission_movesTheEnd() async throws {
        let session = try await host.pluggedIn(.um25c, gate: gate)
        host.loop.result { [gate] in gate.permit(.leased(LeasePermit.strict)) }
        host.loop.advance(by: .seconds(60))
        var later = LeasePermit.strict
        later.sentAt = .origin + .seconds(60)
        host.loop.result { [gate, later] in gate.permit(.leased(later)) }

        host.loop.advance(by: .seconds(107))
        #expect(host.links.openChannels == 1)
        host.loop.advance(by: .seconds(1))
        #expect(host.links.openChannels == 0)
        #expect(await host.leave(session) == .none)
    }

    @Test func permission_thatNobodyWaitsForAnyMore_isGivenBack() async throws {
        let session = try await host.pluggedIn(.um25c, gate: gate)
        await session.disconnect()
        host.loop.result { [gate] in gate.permit(.unleased) }

        #expect(gate.said == [.ask, .cancel, .channelClosed(.attemptFailed)])
        #expect(host.links.attempts == 0)
        #expect(await host.leave(session) == .none)
    }

    @Test func meterThatGoesAway_isNotAskedForAnyMore() async throws {
        let session = try await host.pluggedIn(.um25c, gate: gate)
        await session.vanished(from: .serial(path: .port))

        #expect(gate.said == [.ask, .cancel])
        #expect(await host.leave(session) == .none)
    }
}

/// A gate that records what it is told, and says only what a test says.
private final class MuteGate: LinkGate {
    enum Word: Equatable {
        case ask, linkUp, cancel
        case channelClosed(ChannelEnd)
    }

    private let state = Mutex((said: [Word](), tell: (@Sendable (LinkVerdict) -> Void)?.none))

    var said: [Word] { state.withLock { $0.said } }

    func permit(_ permission: LinkPermission) { state.withLock { $0.tell }?(.permitted(permission)) }

    func attach(_ meter: MeterID, tell: (@Sendable (LinkVerdict) -> Void)?) { state.withLock { $0.tell = tell } }

    func ask(for meter: MeterID, _ wish: LeaseIntent, over transport: LeaseTransport, isUp: Bool) { note(.ask) }
    func linkUp(_ meter: MeterID) { note(.linkUp) }
    func channelClosed(_ meter: MeterID, _ end: ChannelEnd) { note(.channelClosed(end)) }
    func cancel(_ meter: MeterID) { note(.cancel) }
    var role: HostRole { .full }
    func lease(of meter: MeterID) -> LeaseStatus { LeaseStatus(.held) }
    func searchTime(for meter: MeterID) -> Duration { .seconds(30) }
    func givenBack(_ meter: MeterID) async {}
    func look() async -> [MeterID: LeaseStatus] { [:] }

    private func note(_ word: Word) { state.withLock { $0.said.append(word) } }
}

extension LeasePermit {
    fileprivate static let strict = of(.strict)
    fileprivate static let keep = of(.keep)

    private static func of(_ policy: LeasePolicy) -> LeasePermit {
        LeasePermit(
            token: FencingToken(rawValue: 1),
            terms: LeaseTerms(timeToLive: .seconds(120), lockDelay: .seconds(15), policy: policy), sentAt: .origin)
    }
}
