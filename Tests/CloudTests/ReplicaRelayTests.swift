import CloudAPI
import CoreTestKit
import Domain
import FoundationEssentials
import MeterTestKit
import StoreTestKit
import Synchronization
import Testing

@testable import Cloud

/// Readings and commands over several copies of one cloud: who watches, who holds, and each request may be at another one.
@Suite(.timeLimit(.minutes(10)))
struct ReplicaRelayTests {
    @Test func readings_reachWhoWatchesAtAnotherCopy() async throws {
        let copies = try await ConnectedCopies(3)
        let holder = try await Listener(copies[0], 1)
        let lease = try await copies[0].acquire(holder.principal)
        let observer = try await copies[1].join(2)
        var events: RelaySubscription.Iterator? = try await copies.watch(at: 1, by: observer)
        #expect(await holder.interest()?.remaining == 30_000)
        #expect(await events?.next()?.event.body.holder?.holderName == "Host 1")
        for number in UInt64(1)...9 {
            // Through each of them in turn, as behind a proxy.
            let answer = try await copies.send(at: Int(number % 3), holder.principal, lease, number: number)
            #expect(answer.interest == 30_000)
            #expect(await events?.next()?.event.body.batch?.number == number)
        }
        events = nil
        #expect(
            await holder.interest()?.remaining == 0,
            "the last one has left, at a copy to which the holder does not listen")
        let patience = Patience("nobody sends any more")
        while try await copies.send(at: 2, holder.principal, lease, number: 10).interest != 0 {
            try await patience.turn()
        }
        copies.end()
    }

    @Test func everyReading_isAskedFor_whereSomebodyElsewhereWantsIt() async throws {
        let copies = try await ConnectedCopies(2)
        let holder = try await Listener(copies[0], 1)
        _ = try await copies[0].acquire(holder.principal)
        let observer = try await copies[1].join(2)
        var folded: RelaySubscription.Iterator? = try await copies.watch(at: 1, by: observer)
        #expect(await holder.interest()?.all == false)
        var all: RelaySubscription.Iterator? = try await copies.watch(at: 1, by: observer, wantsAll: true)
        #expect(await holder.interest()?.all == true)
        _ = await (folded?.next(), all?.next())
        (folded, all) = (nil, nil)
        copies.end()
    }

    @Test func refusal_isToldAtOtherCopiesToo() async throws {
        let copies = try await ConnectedCopies(2)
        let (one, two) = (try await Listener(copies[0], 1), try await copies[0].join(2))
        let lease = try await copies[0].acquire(one.principal)
        var events = try await copies.watch(at: 1, by: try await copies[1].join(3))
        _ = await (one.interest(), events.next())
        _ = await expectFailure(.leaseLost) { try await copies.send(at: 0, two, lease, number: 1) }
        #expect(await events.next()?.event.body.refused == "Host 2")
        copies.end()
    }

    @Test func whatIsLostBetweenCopies_isCounted() async throws {
        let copies = try await ConnectedCopies(2)
        let holder = try await Listener(copies[0], 1)
        let lease = try await copies[0].acquire(holder.principal)
        var events = try await copies.watch(at: 1, by: try await copies[1].join(2))
        _ = await (holder.interest(), events.next())
        _ = try await copies.send(at: 0, holder.principal, lease, number: 1)
        #expect(await events.next()?.event.body.batch?.number == 1)

        copies.cut(1)
        _ = try await copies.send(at: 0, holder.principal, lease, number: 2, readings: 3)
        let patience = Patience("it noticed")
        while copies[0].service.copyCounts.silent == 0 { try await patience.turn() }
        copies.heal(1)
        _ = try await copies.send(at: 0, holder.principal, lease, number: 3)
        copies.time.advance(by: .seconds(1))
        let next = await events.next()?.event.body.batch
        #expect(next?.number == 3)
        #expect(next?.missed == 3)
        copies.end()
    }

    /// A holder that heard "nobody watches" from a copy that does not know would send nothing more.
    @Test func copyThatHasJustStarted_saysNothingOfWhoWatches() async throws {
        let copies = try await ConnectedCopies(2)
        let holder = try await Listener(copies[0], 1)
        let lease = try await copies[0].acquire(holder.principal)
        var events = try await copies.watch(at: 1, by: try await copies[1].join(2))
        _ = await (holder.interest(), events.next())
        let late = try copies.add()
        let early = await expectFailure(.rateLimited) {
            try await copies.send(at: late, holder.principal, lease, number: 1)
        }
        #expect(early?.retryAfter == .seconds(1))
        try await copies.meet(late)
        let patience = Patience("it has met the others")
        while (try? await copies.send(at: late, holder.principal, lease, number: 2)) == nil {
            try await patience.turn()
        }
        #expect(await events.next()?.event.body.batch?.number == 2)
        copies.end()
    }

    @Test func deadCopysWatchers_areForgotten() async throws {
        let copies = try await ConnectedCopies(2)
        let holder = try await Listener(copies[0], 1)
        _ = try await copies[0].acquire(holder.principal)
        let observer = try await copies[1].join(2)
        let events = try await copies.watch(at: 1, by: observer)
        #expect(await holder.interest()?.remaining == 30_000)
        // It is cut off, with its watchers: nobody says that they have left.
        copies.cut(0)
        copies.cut(1)
        let running = Task { await copies[0].service.run() }
        let (from, patience) = (copies.time.now, Patience("they are forgotten"))
        while copies[0].service.relay.isWatched(MeterPlace(zone: "home", meter: TestCloud.meter)) {
            copies.time.advance(by: .milliseconds(500))
            try await copies[0].engine.settle(patience)
        }
        running.cancel()
        var last = await holder.interest()
        while let interest = last, interest.remaining != 0 { last = await holder.interest() }
        #expect(last?.remaining == 0)
        #expect(copies.time.now - from >= .seconds(25), "not before it could have said so again")
        _ = events
        copies.end()
    }

    @Test func newsForAFormerCopy_isRefused() async throws {
        let copies = try await ConnectedCopies(2)
        let service = copies[0].service
        let news = ReplicaNewsBody(
            from: copies[1].service.copy.description, to: ReplicaID.numbered(77).description, address: "copy:1")
        _ = await expectFailure(.notFound) { try await service.hear(news) }
        var batch = RelayReadingBody.volts(5)
        batch.count = 1
        var hostile = ReplicaNewsBody(
            from: copies[1].service.copy.description, to: service.copy.description, address: "copy:1")
        hostile.events = [
            .init(
                zone: "home", meter: TestCloud.meter,
                event: RelayEventBody(
                    batch: .init(
                        epoch: "e", token: 1, holderID: "h", holderName: "x", number: 1, missed: 0, readings: [batch])))
        ]
        let sent = hostile
        _ = await expectFailure(.badRequest) { try await service.hear(sent) }
        copies.end()
    }

    @Test func key_isTheStores_andNoOther() async throws {
        let copies = try await ConnectedCopies(2)
        let key = try await copies[0].engine.copiesKey(proposing: "another")
        #expect(copies[0].service.isCopy(key))
        #expect(copies[1].service.isCopy(key))
        #expect(key.utf8.count == 64)
        for wrong in ["", "another", String(key.dropLast()), String(key.dropLast()) + "x", key + "0"] {
            #expect(!copies[0].service.isCopy(wrong))
        }
        let alone = try await TestCloud()
        #expect(!alone.service.isCopy(""))
        copies.end()
    }

    // MARK: Commands

    @Test func command_isTakenAtOneCopy_toldAtAnother_claimedAtAThird() async throws {
        let copies = try await ConnectedCopies(3)
        let holder = try await Listener(copies[0], 1)
        let lease = try await copies[0].acquire(holder.principal)
        let author = try await copies[1].join(2)
        async let outcome = copies.order(at: 1, author, lease)
        let told = try #require(await holder.command())
        #expect(told.copy == copies[1].service.copy.description)
        try await copies.claim(at: 2, holder.principal, told)
        // A second claim, wherever it comes, is not granted.
        for copy in 0..<3 {
            _ = await expectFailure(.notFound) { try await copies.claim(at: copy, holder.principal, told) }
        }
        try await copies.say(at: 0, holder.principal, told, RelayCommandAnswer(.done))
        #expect(try await outcome.outcome == .done)
        copies.end()
    }

    @Test func claim_isNotGranted_whereTheDecidingCopyIsNotReached() async throws {
        let copies = try await ConnectedCopies(2)
        let holder = try await Listener(copies[0], 1)
        let lease = try await copies[0].acquire(holder.principal)
        let author = try await copies[1].join(2)
        let asking = Task { try await copies.order(at: 1, author, lease) }
        let told = try #require(await holder.command())
        copies.cut(1)
        _ = await expectFailure(.rateLimited) { try await copies.claim(at: 0, holder.principal, told) }
        var unknown = told
        unknown.copy = ReplicaID.numbered(99).description
        let gone = unknown
        _ = await expectFailure(.notFound) { try await copies.claim(at: 0, holder.principal, gone) }
        copies.time.advance(by: .seconds(5))
        copies[1].service.commands.passed(copies.time.now)
        #expect(try await asking.value.outcome == .notDone)
        copies.end()
    }

    @Test func meterThatChangedHands_endsTheCommand_wherever() async throws {
        let copies = try await ConnectedCopies(2)
        let holder = try await Listener(copies[0], 1)
        let lease = try await copies[0].acquire(holder.principal)
        let (author, next) = (try await copies[1].join(2), try await copies[1].join(3))
        async let outcome = copies.order(at: 1, author, lease)
        let told = try #require(await holder.command())
        _ = try await copies[1].acquire(next, session: 3, request: 3, takeover: lease.token)
        let refused = await expectFailure(.leaseLost) { try await copies.claim(at: 0, holder.principal, told) }
        #expect(refused?.message.contains("Host 1") == true)
        #expect(try await outcome.outcome == .notDone)
        copies.end()
    }

    @Test func holderThatComesToAnotherCopy_isToldWhatWaits() async throws {
        let copies = try await ConnectedCopies(2)
        let holder = try await copies[0].join(1)
        let lease = try await copies[0].acquire(holder)
        let author = try await copies[1].join(2)
        let asking = Task { try await copies.order(at: 1, author, lease) }
        let patience = Patience("it is taken")
        while copies[1].service.commands.offered(to: .numbered(1), in: "home").isEmpty { try await patience.turn() }
        let listener = try await Listener(copies[0], as: holder)
        let told = try #require(await listener.command())
        try await copies.claim(at: 0, holder, told)
        try await copies.say(at: 0, holder, told, RelayCommandAnswer(.done))
        #expect(try await asking.value.outcome == .done)
        copies.end()
    }
}

/// Copies of one cloud that reach each other, through bytes of JSON as over a network.
final class ConnectedCopies: ReplicaLink {
    private struct State {
        var copies: [TestCloud] = []
        var cut: Set<String> = []
        var tasks: [Task<Void, Never>] = []
    }

    private struct Unreachable: Error {}

    private let state = Mutex(State())

    init(_ count: Int) async throws {
        let first = try await TestCloud()
        state.withLock { $0.copies = [first] }
        open(0)
        for _ in 1..<count { _ = try add() }
        for index in 0..<count { try await meet(index) }
        let patience = Patience("they know each other")
        for index in 0..<count {
            let service = self[index].service
            while service.copyCounts.known < count - 1 || !service.post.knowsWhoWatches { try await patience.turn() }
        }
    }

    subscript(index: Int) -> TestCloud { state.withLock { $0.copies[index] } }
    var time: VirtualCloudClock { self[0].time }

    /// - Returns: the index of one more, which knows nobody.
    func add() throws -> Int {
        let index = state.withLock { $0.copies.count }
        let copy = self[0].anotherCopy(UInt64(index))
        state.withLock { $0.copies.append(copy) }
        open(index)
        return index
    }

    private func open(_ index: Int) {
        let service = self[index].service
        service.open(self, at: "copy:\(index)")
        state.withLock { $0.tasks.append(Task { await service.carryNews() }) }
    }

    /// One copy sends its heartbeat, and finds the others.
    func meet(_ index: Int) async throws {
        var life = CloudService.ReplicaGeneration()
        await self[index].service.lookAround(&life)
    }

    func end() {
        for task in state.withLock({ $0.tasks }) { task.cancel() }
    }

    /// Nobody reaches it any more.
    func cut(_ index: Int) { state.withLock { _ = $0.cut.insert("copy:\(index)") } }
    func heal(_ index: Int) { state.withLock { _ = $0.cut.remove("copy:\(index)") } }

    private func service(at address: String, _ key: String) throws -> CloudService {
        let index = state.withLock { $0.cut.contains(address) ? nil : Int(address.dropFirst("copy:".count)) }
        guard let index else { throw Unreachable() }
        let service = self[index].service
        guard service.isCopy(key) else { throw CloudFailure(.notAuthenticated, "another key") }
        return service
    }

    private func sent<Body: Codable>(_ body: Body) throws -> Body {
        try JSONDecoder().decode(Body.self, from: JSONEncoder().encode(body))
    }

    func tell(_ news: ReplicaNewsBody, at address: String, key: String) async throws -> ReplicaNewsAnswer {
        try sent(try await service(at: address, key).hear(try sent(news)))
    }

    func ask(
        _ question: ReplicaQuestionBody, at address: String, key: String
    ) async throws(CloudFailure) -> ReplicaAnswerBody {
        do {
            return try sent(try await service(at: address, key).answer(try sent(question)))
        } catch let failure as CloudFailure {
            throw failure
        } catch {
            throw CloudFailure(.rateLimited, "\(error)")
        }
    }

    // MARK: What hosts do

    func watch(
        at index: Int, by host: Principal, wantsAll: Bool = false
    ) async throws(CloudFailure) -> RelaySubscription.Iterator {
        try await self[index].service.watch(TestCloud.meter, wantsAll: wantsAll, in: "home", by: host)
            .makeAsyncIterator()
    }

    func send(
        at index: Int, _ host: Principal, _ lease: LeaseBody, number: UInt64, readings: Int = 1
    ) async throws(CloudFailure) -> RelayAnswer {
        try await self[index].service.relay(
            RelayRequest(
                session: SessionID.numbered(1).description, token: lease.token, number: number, missed: 0,
                readings: Array(repeating: .volts(5), count: readings)),
            of: TestCloud.meter, in: "home", by: host)
    }

    func order(at index: Int, _ host: Principal, _ lease: LeaseBody) async throws(CloudFailure) -> RelayCommandAnswer {
        try await self[index].service.command(
            RelayCommandRequest(
                requestID: RequestID.numbered(1).description, token: lease.token,
                action: RelayActionBody(kind: "stopRecording")),
            of: TestCloud.meter, in: "home", by: host)
    }

    func claim(at index: Int, _ host: Principal, _ command: EventBody.Command) async throws(CloudFailure) {
        try await self[index].service.claim(
            RelayClaimRequest(
                session: SessionID.numbered(1).description, token: command.token, copy: command.copy),
            command.requestID, of: command.meter, in: "home", by: host)
    }

    func say(
        at index: Int, _ host: Principal, _ command: EventBody.Command, _ answer: RelayCommandAnswer
    ) async throws(CloudFailure) {
        try await self[index].service.answer(
            RelayOutcomeRequest(token: command.token, copy: command.copy, answer: answer), command.requestID,
            in: "home", by: host)
    }
}
