import Cloud
import CloudAPI
import CoreTestKit
import MeterModel
import MeterTestKit
import Synchronization
import Testing

/// A command from one host to the host that has the meter (Docs/Relay.md#commands).
@Suite(.timeLimit(.minutes(10)))
struct CommandTests {
    private static let action: RelayActionBody = {
        var action = RelayActionBody(kind: "command")
        action.command = "rotate"
        return action
    }()

    private func order(
        _ cloud: TestCloud, _ host: Principal, id: UInt64 = 1, token: UInt64
    ) async throws(CloudFailure) -> RelayCommandAnswer {
        try await cloud.service.command(
            RelayCommandRequest(requestID: RequestID.numbered(id).description, token: token, action: Self.action),
            of: TestCloud.meter, in: "home", by: host)
    }

    private func claim(
        _ cloud: TestCloud, _ host: Principal, _ command: EventBody.Command, session: UInt64 = 1
    ) async throws(CloudFailure) {
        try await cloud.service.claim(
            RelayClaimRequest(session: SessionID.numbered(session).description, token: command.token),
            command.requestID, of: command.meter, in: "home", by: host)
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
        let running = Task { await cloud.service.run() }
        let asking = Task { try await order(cloud, author, token: lease.token) }
        let known = Mutex(false)
        let waiting = Task {
            let outcome = try await asking.value
            known.withLock { $0 = true }
            return outcome
        }
        let patience = Patience("it is known what became of it")
        while !known.withLock({ $0 }) {
            cloud.time.advance(by: .milliseconds(250))
            try await patience.turn()
        }
        running.cancel()
        let outcome = try await waiting.value
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
