import CloudAPI
import CoreTestKit
import Domain
import MeterTestKit
import StoreTestKit
import Synchronization
import Testing

@testable import Cloud

/// A command from one host to the host that has the meter (Docs/Relay.md#commands).
@Suite(.timeLimit(.minutes(10)))
struct CommandTests {
    private static let action: RelayActionBody = {
        var action = RelayActionBody(kind: "command")
        action.command = "rotate"
        return action
    }()

    private func order(
        _ cloud: TestCloud, _ host: Principal, id: UInt64 = 1, token: UInt64, meter: String = TestCloud.meter,
        action: RelayActionBody = action
    ) async throws(CloudFailure) -> RelayCommandAnswer {
        try await cloud.service.command(
            RelayCommandRequest(requestID: RequestID.numbered(id).description, token: token, action: action),
            of: meter, in: "home", by: host)
    }

    private func claim(
        _ cloud: TestCloud, _ host: Principal, _ command: EventBody.Command, session: UInt64 = 1,
        meter: String? = nil
    ) async throws(CloudFailure) {
        try await cloud.service.claim(
            RelayClaimRequest(session: SessionID.numbered(session).description, token: command.token),
            command.requestID, of: meter ?? command.meter, in: "home", by: host)
    }

    /// A command that its holder claims and does.
    private func done(
        _ cloud: TestCloud, _ holder: Listener, _ author: Principal, id: UInt64 = 1, token: UInt64
    ) async throws -> RelayCommandAnswer {
        async let outcome = order(cloud, author, id: id, token: token)
        let told = try #require(await holder.command())
        try await claim(cloud, holder.principal, told)
        try await say(cloud, holder.principal, told, RelayCommandAnswer(.done))
        return try await outcome
    }

    /// Waits until a copy offers the command to its holder.
    private func isOffered(_ cloud: TestCloud) async throws {
        let patience = Patience("it is offered")
        while cloud.service.commands.offered(to: .numbered(1), in: "home").isEmpty { try await patience.turn() }
    }

    /// Lets the time pass at copies of the cloud until the body has returned. With a step of zero it stands still: how
    /// often a busy machine turns this loop must not make anything old.
    private func passing<Value: Sendable>(
        _ copies: TestCloud..., step: Duration = .milliseconds(250), body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let running = copies.map { copy in Task { await copy.service.run() } }
        defer { for task in running { task.cancel() } }
        let isOver = Mutex(false)
        let waiting = Task {
            defer { isOver.withLock { $0 = true } }
            return try await body()
        }
        let patience = Patience("it is over")
        while !isOver.withLock({ $0 }) {
            copies[0].time.advance(by: step)
            try await copies[0].engine.settle(patience)
        }
        return try await waiting.value
    }

    private func say(
        _ cloud: TestCloud, _ host: Principal, _ command: EventBody.Command, _ answer: RelayCommandAnswer
    ) async throws(CloudFailure) {
        try await cloud.service.answer(
            RelayOutcomeRequest(token: command.token, answer: answer), command.requestID, in: "home", by: host)
    }

    @Test func command_reachesItsHolder_andTheOutcomeComesBack() async throws {
        let cloud = try await TestCloud()
        let holder = try await Listener(cloud, 1)
        let author = try await cloud.join(2)
        let lease = try await cloud.acquire(holder.principal)
        async let outcome = order(cloud, author, token: lease.token)
        let told = try #require(await holder.command())
        #expect(told.hostName == "Host 2")
        #expect(told.action == Self.action)
        try await claim(cloud, holder.principal, told)
        var answer = RelayCommandAnswer(.done)
        answer.result = #"{"id":"00000001"}"#
        try await say(cloud, holder.principal, told, answer)

        let said = try await outcome
        #expect(said.outcome == .done)
        #expect(said.result == answer.result)
        #expect(said.holderName == "Host 1")
        // Once more under the same id: the same outcome, and nobody is told of it.
        let again = try await order(cloud, author, token: lease.token)
        #expect(again == said)
    }

    @Test func command_forAnOldToken_isRefused_withThePresentHolder() async throws {
        let cloud = try await TestCloud()
        let (first, second) = (try await cloud.join(1), try await cloud.join(2))
        let old = try await cloud.acquire(first)
        let taken = try await cloud.acquire(second, session: 2, request: 2, takeover: old.token)
        do throws(CloudFailure) {
            _ = try await order(cloud, first, token: old.token)
            Issue.record("it was taken")
        } catch {
            #expect(error.code == .leaseLost)
            #expect(error.lease?.holderName == "Host 2")
            #expect(error.lease?.token == taken.token)
        }
    }

    /// Between the order and the claim the meter changes hands: neither of the two holders does it.
    @Test func command_isNotDone_whenTheMeterChangesHandsBeforeTheClaim() async throws {
        let cloud = try await TestCloud()
        let holder = try await Listener(cloud, 1)
        let (author, next) = (try await cloud.join(2), try await cloud.join(3))
        let lease = try await cloud.acquire(holder.principal)
        async let outcome = order(cloud, author, token: lease.token)
        let told = try #require(await holder.command())
        _ = try await cloud.acquire(next, session: 3, request: 3, takeover: lease.token)
        _ = await expectFailure(.leaseLost) { try await claim(cloud, holder.principal, told) }
        _ = await expectFailure(.leaseLost) { try await claim(cloud, next, told, session: 3) }
        #expect(try await outcome.outcome == .notDone)
    }

    @Test func otherHosts_cannotClaimOrAnswer() async throws {
        let cloud = try await TestCloud()
        let holder = try await Listener(cloud, 1)
        let (author, stranger) = (try await cloud.join(2), try await cloud.join(3))
        let lease = try await cloud.acquire(holder.principal)
        async let outcome = order(cloud, author, token: lease.token)
        let told = try #require(await holder.command())
        _ = await expectFailure(.leaseLost) { try await claim(cloud, stranger, told) }
        _ = await expectFailure(.leaseLost) { try await claim(cloud, holder.principal, told, session: 2) }
        try await say(cloud, stranger, told, RelayCommandAnswer(.done))
        try await claim(cloud, holder.principal, told)
        try await say(cloud, stranger, told, RelayCommandAnswer(.done))
        try await say(cloud, holder.principal, told, RelayCommandAnswer(.refused, message: "no"))
        #expect(try await outcome.outcome == .refused)
    }

    @Test func nobodyClaims_isSaid_afterSomeSeconds() async throws {
        let cloud = try await TestCloud()
        let holder = try await cloud.join(1)
        let author = try await cloud.join(2)
        let lease = try await cloud.acquire(holder)
        let outcome = try await passing(cloud) { try await order(cloud, author, token: lease.token) }
        #expect(outcome.outcome == .notDone)
        #expect(outcome.message?.contains("Host 1") == true)
    }

    /// A holder whose stream was down when the command came, and that is back in time.
    @Test func holderThatComesBack_isToldWhatWaits() async throws {
        let cloud = try await TestCloud()
        let (holder, author) = (try await cloud.join(1), try await cloud.join(2))
        let lease = try await cloud.acquire(holder)
        let outcome = Task { try await order(cloud, author, token: lease.token) }
        let listener = try await Listener(cloud, as: holder)
        // The order may come before the stream or after it: it is told in both cases.
        let told = try #require(await listener.command())
        try await claim(cloud, holder, told)
        try await say(cloud, holder, told, RelayCommandAnswer(.done))
        #expect(try await outcome.value.outcome == .done)
    }

    @Test func whoeverLeaves_takesTheCommandBack() async throws {
        let cloud = try await TestCloud()
        let holder = try await Listener(cloud, 1)
        let author = try await cloud.join(2)
        let lease = try await cloud.acquire(holder.principal)
        let asking = Task { try await order(cloud, author, token: lease.token) }
        let told = try #require(await holder.command())
        asking.cancel()
        await #expect(throws: CloudFailure.self) { _ = try await asking.value }
        _ = await expectFailure(.notFound) { try await claim(cloud, holder.principal, told) }
    }

    @Test func cloudThatStops_saysThatNothingIsDone() async throws {
        let cloud = try await TestCloud()
        let holder = try await Listener(cloud, 1)
        let author = try await cloud.join(2)
        let lease = try await cloud.acquire(holder.principal)
        async let outcome = order(cloud, author, token: lease.token)
        _ = await holder.command()
        await cloud.service.shutdown()
        #expect(try await outcome.outcome == .notDone)
    }

    // MARK: Repeats, through any copy

    @Test func outcome_isKept_forEveryCopy_andAfterAChangeOfHands() async throws {
        let cloud = try await TestCloud()
        let other = cloud.anotherCopy()
        let holder = try await Listener(cloud, 1)
        let (author, next) = (try await cloud.join(2), try await cloud.join(3))
        let lease = try await cloud.acquire(holder.principal)
        let said = try await done(cloud, holder, author, token: lease.token)
        let elsewhere = try await passing(cloud, other) { try await order(other, author, token: lease.token) }
        #expect(elsewhere == said)
        _ = try await cloud.acquire(next, session: 3, request: 3, takeover: lease.token)
        for copy in [cloud, other] { #expect(try await order(copy, author, token: lease.token) == said) }
    }

    /// The copy that granted the claim dies. Its holder's answer reaches another one, or none.
    @Test func claimed_isNeverSaidNotDone_afterTheDeathOfItsCopy() async throws {
        let cloud = try await TestCloud()
        let (other, third) = (cloud.anotherCopy(), cloud.anotherCopy(2))
        let holder = try await Listener(cloud, 1)
        let (author, next) = (try await cloud.join(2), try await cloud.join(3))
        let lease = try await cloud.acquire(holder.principal)
        let asking = Task { _ = try? await order(cloud, author, token: lease.token) }
        let told = try #require(await holder.command())
        try await claim(cloud, holder.principal, told)

        let early = try await passing(other) { try await order(other, author, token: lease.token) }
        #expect(early.outcome == .timedOut)
        #expect(early.holderName == "Host 1")
        _ = await expectFailure(.notFound) { try await claim(other, holder.principal, told) }
        _ = try await cloud.acquire(next, session: 3, request: 3, takeover: lease.token)
        let later = try await passing(other) { try await order(other, author, token: lease.token) }
        #expect(later.outcome == .timedOut)
        try await say(other, next, told, RelayCommandAnswer(.refused, message: "a stranger's word"))
        try await say(other, holder.principal, told, RelayCommandAnswer(.done))
        try await say(other, holder.principal, told, RelayCommandAnswer(.refused, message: "a second word"))
        #expect(try await order(third, author, token: lease.token).outcome == .done)
        asking.cancel()
        await asking.value
    }

    /// A repeat reaches another copy before the claim: both offer it.
    @Test func commandAtTwoCopies_isOne() async throws {
        let cloud = try await TestCloud()
        let other = cloud.anotherCopy()
        let holder = try await Listener(cloud, 1)
        let author = try await cloud.join(2)
        let lease = try await cloud.acquire(holder.principal)
        let again = Task { try await order(other, author, token: lease.token) }
        try await isOffered(other)
        let said = try await done(cloud, holder, author, token: lease.token)
        #expect(try await passing(other) { try await again.value } == said)
    }

    @Test func whatWasSaidNotDone_isClaimedNowhere() async throws {
        let cloud = try await TestCloud()
        let other = cloud.anotherCopy()
        let holder = try await Listener(other, 1)
        let author = try await cloud.join(2)
        let lease = try await cloud.acquire(holder.principal)
        let first = Task { try await order(cloud, author, token: lease.token) }
        try await isOffered(cloud)
        cloud.time.advance(by: .seconds(2))
        let again = Task { try await order(other, author, token: lease.token) }
        let told = try #require(await holder.command())
        cloud.time.advance(by: .seconds(3))
        cloud.service.commands.passed(cloud.time.now)
        #expect(try await first.value.outcome == .notDone)
        _ = await expectFailure(.notFound) { try await claim(other, holder.principal, told) }
        let heard = try await passing(other) { try await again.value }
        #expect(heard.outcome == .notDone)
    }

    /// A holder that takes no commands says so without a claim.
    @Test func refusal_withoutAClaim_isKept() async throws {
        let cloud = try await TestCloud()
        let holder = try await Listener(cloud, 1)
        let author = try await cloud.join(2)
        let lease = try await cloud.acquire(holder.principal)
        async let outcome = order(cloud, author, token: lease.token)
        let told = try #require(await holder.command())
        try await say(cloud, holder.principal, told, RelayCommandAnswer(.refused, message: "no"))
        #expect(try await outcome.outcome == .refused)
        #expect(try await order(cloud.anotherCopy(), author, token: lease.token) == outcome)
        _ = await expectFailure(.notFound) { try await claim(cloud, holder.principal, told) }
    }

    /// Each looks into the store again and again.
    @Test func repeatsThatWait_areLimited() async throws {
        let cloud = try await TestCloud()
        let other = cloud.anotherCopy()
        let holder = try await Listener(cloud, 1)
        let author = try await cloud.join(2)
        let lease = try await cloud.acquire(holder.principal)
        async let outcome = order(cloud, author, token: lease.token)
        let told = try #require(await holder.command())
        try await claim(cloud, holder.principal, told)
        let repeats = (0..<32).map { _ in Task { try await order(other, author, token: lease.token) } }
        let patience = Patience("they wait")
        while other.service.repeats.withLock({ $0.values.first }) != 32 { try await patience.turn() }
        #expect(try await order(other, author, token: lease.token).outcome == .timedOut)
        try await say(other, holder.principal, told, RelayCommandAnswer(.done))
        try await say(cloud, holder.principal, told, RelayCommandAnswer(.done))
        let said = try await outcome
        let heard = try await passing(other) {
            var heard: Set<RelayCommandAnswer> = []
            for task in repeats { heard.insert(try await task.value) }
            return heard
        }
        #expect(heard == [said])
        #expect(other.service.repeats.withLock { $0.isEmpty })
    }

    @Test func anotherCommand_underTheIdOfOne_isRefused() async throws {
        let cloud = try await TestCloud()
        let other = cloud.anotherCopy()
        let holder = try await Listener(cloud, 1)
        let (author, stranger) = (try await cloud.join(2), try await cloud.join(3))
        let lease = try await cloud.acquire(holder.principal)
        _ = try await done(cloud, holder, author, token: lease.token)
        var stop = RelayActionBody(kind: "stopRecording")
        stop.number = 1
        let action = stop
        try await passing(other) {
            for copy in [cloud, other] {
                for (host, token, meter, action) in [
                    (stranger, lease.token, TestCloud.meter, Self.action),
                    (author, lease.token + 1, TestCloud.meter, Self.action),
                    (author, lease.token, "AA:BB:CC:DD:EE:00", Self.action),
                    (author, lease.token, TestCloud.meter, action),
                ] {
                    _ = await expectFailure(.badRequest) {
                        try await order(copy, host, token: token, meter: meter, action: action)
                    }
                }
            }
        }
    }

    /// A host that has used up its share: what was done stays known, through each copy, until it is old.
    @Test func fullShare_refusesNewCommands_andForgetsNone() async throws {
        let cloud = try await TestCloud()
        let other = cloud.anotherCopy()
        let holder = try await Listener(cloud, 1)
        let author = try await cloud.join(2)
        let lease = try await cloud.acquire(holder.principal)
        let full: UInt64 = 512
        for id in 1...full { _ = try await done(cloud, holder, author, id: id, token: lease.token) }
        try await passing(other, step: .zero) {
            for copy in [cloud, other] {
                _ = await expectFailure(.rateLimited) {
                    try await order(copy, author, id: full + 1, token: lease.token)
                }
            }
        }
        let known = try await passing(other, step: .zero) {
            var known: Set<RelayCommandAnswer.Outcome> = []
            for id in 1...full { known.insert(try await order(other, author, id: id, token: lease.token).outcome) }
            return known
        }
        #expect(known == [.done])
    }

    @Test func storedCommand_goes_onceItIsOld_andNotBefore() async throws {
        let cloud = try await TestCloud()
        let holder = try await Listener(cloud, 1)
        let author = try await cloud.join(2)
        let lease = try await cloud.acquire(holder.principal)
        _ = try await done(cloud, holder, author, token: lease.token)
        let from = cloud.time.now
        try await passing(cloud) {
            let patience = Patience("it is gone")
            while try await !cloud.engine.commandMarks().isEmpty { try await patience.turn() }
        }
        #expect((.seconds(75)...(.seconds(120))).contains(cloud.time.now - from))

        func mark(_ mark: Int64) -> CommandMark {
            CommandMark(zone: "home", requestID: .numbered(1), author: "a", mark: mark)
        }
        let (claimed, ended) = (mark(1), mark(2))
        var ages = CommandAges()
        for (seconds, mark, isOld) in [
            (0, claimed, false), (84, claimed, false), (84, ended, false), (168, ended, false), (169, ended, true),
        ] as [(Int64, CommandMark, Bool)] {
            let old = ages.look(at: [mark], now: from + .seconds(seconds))
            #expect(old == (isOld ? [mark] : []), "\(seconds) s")
        }
    }

    @Test func claimUnderAnotherMetersPath_isRefused_andEndsNothing() async throws {
        let cloud = try await TestCloud()
        let holder = try await Listener(cloud, 1)
        let (author, stranger) = (try await cloud.join(2), try await cloud.join(3))
        let lease = try await cloud.acquire(holder.principal)
        let own = try await cloud.acquire(stranger, "AA:BB:CC:DD:EE:00", session: 3, request: 3)
        async let outcome = order(cloud, author, token: lease.token)
        let told = try #require(await holder.command())
        var forged = told
        forged.token = own.token
        for (host, command, meter) in [
            (stranger, told, "AA:BB:CC:DD:EE:01"), (stranger, told, own.meter), (stranger, forged, own.meter),
            (holder.principal, told, "AA:BB:CC:DD:EE:01"),
        ] {
            await #expect(throws: CloudFailure.self) {
                try await claim(cloud, host, command, session: 3, meter: meter)
            }
        }
        try await claim(cloud, holder.principal, told)
        try await say(cloud, holder.principal, told, RelayCommandAnswer(.done))
        #expect(try await outcome.outcome == .done)
    }

    @Test func oversizedTexts_areRefused() async throws {
        let cloud = try await TestCloud()
        let holder = try await cloud.join(1)
        let lease = try await cloud.acquire(holder)
        var action = RelayActionBody(kind: "startRecording")
        action.name = String(repeating: "x", count: 257)
        _ = await expectFailure(.limitExceeded) {
            try await cloud.service.command(
                RelayCommandRequest(requestID: RequestID.numbered(1).description, token: lease.token, action: action),
                of: TestCloud.meter, in: "home", by: holder)
        }
        _ = await expectFailure(.badRequest) {
            try await cloud.service.command(
                RelayCommandRequest(requestID: "1", token: lease.token, action: Self.action),
                of: TestCloud.meter, in: "home", by: holder)
        }
        _ = await expectFailure(.limitExceeded) {
            try await cloud.service.answer(
                RelayOutcomeRequest(
                    token: 1, answer: RelayCommandAnswer(.refused, message: String(repeating: "x", count: 20_000))),
                RequestID.numbered(1).description, in: "home", by: holder)
        }
        _ = await expectFailure(.limitExceeded) {
            try await cloud.service.answer(
                RelayOutcomeRequest(
                    token: 1, copy: String(repeating: "x", count: 257), answer: RelayCommandAnswer(.done)),
                RequestID.numbered(1).description, in: "home", by: holder)
        }
    }
}
