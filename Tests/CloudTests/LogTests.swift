import CloudAPI
import CoreTestKit
import Domain
import MeterTestKit
import StoreTestKit
import Synchronization
import Testing

@testable import Cloud

/// One host asks what the others have of a meter's log (Docs/Relay.md#the-meters-log).
@Suite(.timeLimit(.minutes(10)))
struct LogTests {
    private func part(_ what: String...) -> RelayLogPart {
        RelayLogPart(lines: what.map { RelayLogLine(kind: "command", age: 5, lastAge: 5, time: 1, what: $0) })
    }

    private func ask(
        _ cloud: TestCloud, _ host: Principal, within: Int64? = nil, meter: String = TestCloud.meter
    ) async throws(CloudFailure) -> RelayLogAnswer {
        try await cloud.service.log(of: meter, within: within, in: "home", by: host)
    }

    private func say(
        _ cloud: TestCloud, _ host: Principal, _ question: EventBody.LogQuestion, _ part: RelayLogPart
    ) async throws(CloudFailure) {
        var part = part
        part.copy = question.copy
        try await cloud.service.answerLog(part, question.requestID, in: "home", by: host)
    }

    @Test func otherHosts_areAsked_andTheirPartsComeBack() async throws {
        let cloud = try await TestCloud()
        let (one, other) = (try await Listener(cloud, 1), try await Listener(cloud, 2))
        let asker = try await Listener(cloud, 3)
        async let answer = ask(cloud, asker.principal, within: 60_000)
        let question = try #require(await one.logQuestion())
        #expect(question.meter == TestCloud.meter && question.within == 60_000)
        #expect(try #require(await other.logQuestion()) == question)
        try await say(cloud, one.principal, question, part("rotate"))
        var nothing = part()
        nothing.shared = false
        try await say(cloud, other.principal, question, nothing)

        let said = try await answer
        #expect(said.parts.map(\.hostName) == ["Host 1", "Host 2"])
        #expect(said.parts.map(\.lines) == [part("rotate").lines, []])
        #expect(said.parts.map(\.shared) == [nil, false])
        #expect(said.silent == [])
        #expect(cloud.service.logs.count == 0)
    }

    @Test func zoneWithoutOtherListeners_answersAtOnce() async throws {
        let cloud = try await TestCloud()
        _ = try await cloud.join(1)
        let asker = try await Listener(cloud, 2)
        #expect(try await ask(cloud, asker.principal) == RelayLogAnswer(parts: [], silent: []))
    }

    @Test func silentHost_isNamed_afterSomeSeconds() async throws {
        let cloud = try await TestCloud()
        let silent = try await Listener(cloud, 1)
        let asker = try await cloud.join(2)
        let running = Task { await cloud.service.run() }
        let known = Mutex<RelayLogAnswer?>(nil)
        let asking = Task {
            let answer = try await ask(cloud, asker)
            known.withLock { $0 = answer }
        }
        let patience = Patience("the answer is there")
        while known.withLock({ $0 == nil }) {
            cloud.time.advance(by: .milliseconds(250))
            try await cloud.engine.settle(patience)
        }
        running.cancel()
        try await asking.value
        #expect(known.withLock { $0 } == RelayLogAnswer(parts: [], silent: ["Host 1"]))
        _ = silent
    }

    @Test func whoeverLeaves_isAnsweredNoMore_andNothingIsKept() async throws {
        let cloud = try await TestCloud()
        let host = try await Listener(cloud, 1)
        let asker = try await cloud.join(2)
        let asking = Task { try await ask(cloud, asker) }
        let question = try #require(await host.logQuestion())
        asking.cancel()
        await #expect(throws: CloudFailure.self) { _ = try await asking.value }
        #expect(cloud.service.logs.count == 0)
        // Too late, which is no fault of the host.
        try await say(cloud, host.principal, question, part("rotate"))
    }

    @Test func cloudThatStops_answersWithWhatHasCome() async throws {
        let cloud = try await TestCloud()
        let (one, other) = (try await Listener(cloud, 1), try await Listener(cloud, 2))
        let asker = try await cloud.join(3)
        async let answer = ask(cloud, asker)
        let question = try #require(await one.logQuestion())
        try await say(cloud, one.principal, question, part("rotate"))
        await cloud.service.shutdown()
        let said = try await answer
        #expect(said.parts.map(\.hostName) == ["Host 1"] && said.silent == ["Host 2"])
        _ = await expectFailure(.serviceUnavailable) { try await ask(cloud, asker) }
        _ = other
    }

    /// A host of another zone, one that was not asked, and one that says twice: none of them changes the answer.
    @Test func others_cannotAnswerForAHost() async throws {
        let cloud = try await TestCloud()
        let host = try await Listener(cloud, 1)
        let (asker, stranger) = (try await cloud.join(2), try await cloud.join(3))
        async let answer = ask(cloud, asker)
        let question = try #require(await host.logQuestion())
        try await say(cloud, stranger, question, part("forged"))
        try await say(cloud, asker, question, part("forged"))
        _ = await expectFailure(.permissionDenied) {
            try await cloud.service.answerLog(part("forged"), question.requestID, in: "elsewhere", by: host.principal)
        }
        try await say(cloud, host.principal, question, part("rotate"))
        #expect(try await answer.parts.map(\.lines) == [part("rotate").lines])
    }

    /// An alias is asked for under the meter's main id, as it is leased.
    @Test func question_namesTheMainId() async throws {
        let cloud = try await TestCloud()
        let host = try await Listener(cloud, 1)
        let asker = try await cloud.join(2)
        async let answer = ask(cloud, asker, meter: "aabbccddeeff")
        let question = try #require(await host.logQuestion())
        #expect(question.meter == TestCloud.meter)
        try await say(cloud, host.principal, question, part())
        _ = try await answer
    }

    @Test func partsThatNoHostSends_areRefused() async throws {
        let cloud = try await TestCloud()
        let host = try await cloud.join(1)
        let id = RequestID.numbered(1).description
        func refuse(
            _ code: CloudErrorCode, _ part: RelayLogPart, sourceLocation: SourceLocation = #_sourceLocation
        ) async {
            _ = await expectFailure(
                code, { try await cloud.service.answerLog(part, id, in: "home", by: host) },
                sourceLocation: sourceLocation)
        }
        await refuse(.limitExceeded, part(String(repeating: "x", count: CloudLimits.logTextBytes + 1)))
        await refuse(
            .limitExceeded,
            RelayLogPart(lines: Array(repeating: part("x").lines[0], count: CloudLimits.logLinesPerPart + 1)))
        await refuse(
            .limitExceeded,
            RelayLogPart(lines: Array(repeating: part(String(repeating: "x", count: 1000)).lines[0], count: 200)))
        for change in [
            { $0.age = -1 }, { $0.age = .min }, { $0.lastAge = -1 }, { $0.count = 0 }, { $0.count = .min },
        ] as [(inout RelayLogLine) -> Void] {
            var bad = part("x")
            change(&bad.lines[0])
            await refuse(.badRequest, bad)
        }
        _ = await expectFailure(.badRequest) {
            try await cloud.service.answerLog(part(), "one", in: "home", by: host)
        }
        _ = await expectFailure(.badRequest) { try await ask(cloud, host, within: -1) }
        _ = await expectFailure(.badRequest) { try await ask(cloud, host, meter: "no meter") }
        // The greatest that a host may send is taken.
        let line = RelayLogLine(kind: "k", age: .max, lastAge: .max, time: .min, what: "w")
        try await cloud.service.answerLog(
            RelayLogPart(lines: Array(repeating: line, count: CloudLimits.logLinesPerPart)), id, in: "home", by: host)
    }

    // MARK: Several copies

    /// Who asks, and each of the others, is at another copy; and each answers through yet another one.
    @Test func hostsAtOtherCopies_areAsked_andAnswerThroughAnyCopy() async throws {
        let copies = try await ConnectedCopies(3)
        let (one, other) = (try await Listener(copies[0], 1), try await Listener(copies[2], 2))
        let asker = try await Listener(copies[2], 3)
        async let answer = ask(copies[1], asker.principal)
        let (first, second) = (try #require(await one.logQuestion()), try #require(await other.logQuestion()))
        #expect(first.copy == copies[0].service.copy.description)
        #expect(second.copy == copies[2].service.copy.description)
        try await say(copies[1], one.principal, first, part("rotate"))
        try await say(copies[0], other.principal, second, part("setup"))
        let said = try await answer
        #expect(said.parts.map(\.hostName) == ["Host 1", "Host 2"])
        #expect(said.parts.flatMap(\.lines).map(\.what) == ["rotate", "setup"])
        #expect(said.silent == [])
        copies.end()
    }

    @Test func copyThatIsNotReached_isSaid_withThePartsOfTheOthers() async throws {
        let copies = try await ConnectedCopies(2)
        let host = try await Listener(copies[0], 1)
        let asker = try await copies[0].join(2)
        copies.cut(1)
        async let answer = ask(copies[0], asker)
        let question = try #require(await host.logQuestion())
        try await say(copies[0], host.principal, question, part("rotate"))
        let said = try await answer
        #expect(said.parts.map(\.hostName) == ["Host 1"])
        #expect(said.silent == ["hosts at another copy of the cloud"])
        // A part for a copy that is gone is refused, and so is one that no host sends.
        var lost = question
        lost.copy = ReplicaID.numbered(99).description
        let gone = lost
        _ = await expectFailure(.notFound) { try await say(copies[0], host.principal, gone, part("rotate")) }
        lost.requestID = "one"
        let bad = lost
        _ = await expectFailure(.badRequest) { try await say(copies[0], host.principal, bad, part()) }
        copies.end()
    }

    /// What a copy may tell another at once has a limit: the hosts beyond it are named.
    @Test func partsBeyondWhatOneCopyTellsAnother_areNamed() async throws {
        let copies = try await ConnectedCopies(2)
        var hosts: [Listener] = []
        for number in UInt8(1)...10 { hosts.append(try await Listener(copies[1], number)) }
        let asker = try await copies[0].join(11)
        async let answer = ask(copies[0], asker)
        let line = part(String(repeating: "x", count: 900)).lines[0]
        let large = RelayLogPart(lines: Array(repeating: line, count: 120))
        for host in hosts {
            let question = try #require(await host.logQuestion())
            try await say(copies[1], host.principal, question, large)
        }
        let said = try await answer
        #expect(said.parts.count == 8)
        #expect(said.silent.count == 2)
        copies.end()
    }
}
