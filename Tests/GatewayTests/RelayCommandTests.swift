import CoreTestKit
import Domain
import Gateway
import GatewayAPI
import MeterCodec
import MeterTestKit
import Synchronization
import Testing

/// What people on one host want done with a meter that another host has (Docs/Relay.md#commands).
@Suite(.timeLimit(.minutes(10)))
struct RelayCommandTests {
    /// A host that has a meter, and another one from which people command it.
    private final class World: Sendable {
        let bench = LeaseBench(.keep)
        let relay: SimulatedRelay
        let holder: LeaseHost
        let author: LeaseHost
        let session: DeviceSession
        let executor: RequestExecutor
        let commander: RelayCommander
        private let acts: Acts

        init(isAllowed: Bool = true) async throws {
            relay = SimulatedRelay(bench.zone)
            holder = bench.host(1)
            author = bench.host(2)
            session = try await holder.pluggedIn()
            let acts = Acts()
            executor = RequestExecutor(
                link: relay.link(of: holder.keeper.identity.host, named: "pi1"), keeper: holder.keeper,
                isAllowed: isAllowed,
                loop: bench.loop, logger: holder.host.log.logger, log: holder.host.happened
            ) { [session] (action, _, deadline) async throws(GatewayError) in
                acts.list.withLock { $0.append(action) }
                if case .command(let command) = action { try await session.perform(command, by: deadline) }
                return #"{"done":true}"#
            } part: { question in
                LogPart(lines: [], isCut: question.meter == .um, isShared: true)
            }
            self.acts = acts
            let ids = IDs()
            commander = RelayCommander(
                link: relay.link(of: author.keeper.identity.host, named: "pi2"), keeper: author.keeper,
                newID: { ids.next() })
            relay.listen(holder.keeper.identity.host) { [executor] in await executor.handle($0) }
            await bench.advance(by: .seconds(2), holder, author)
        }

        var done: [RelayAction] { acts.list.withLock { $0 } }
        var commands: [[UInt8]] { holder.host.links.writes(to: .port).map(\.bytes).filter { $0 != [0xF0] } }

        func order(_ action: RelayAction) -> Task<String?, any Error> {
            Task { [commander] in try await commander.order(action, of: .um, named: "bench")?.result }
        }

        func leave() async throws {
            #expect(try await bench.leave(holder, session) == .none)
            #expect(try await bench.leave(author) == .none)
        }
    }

    private final class Acts: Sendable { let list = Mutex<[RelayAction]>([]) }

    private final class IDs: Sendable {
        private let last = Mutex<UInt64>(0)

        func next() -> RequestID {
            last.withLock { last in
                last += 1
                return .numbered(last)
            }
        }
    }

    @Test func command_isDoneByTheHolder_withItsAnswer() async throws {
        let world = try await World()
        let order = world.order(.command(MeterCommand(.rotate)))
        let said = try await world.bench.advance(until: order, world.holder, world.author)

        #expect(said == #"{"done":true}"#)
        #expect(world.commands == [[0xF2]])
        try await world.leave()
    }

    @Test func holdersLog_saysWhoCommandedIt_andWhatBecameOfIt() async throws {
        let world = try await World()
        let done = world.order(.command(MeterCommand(.rotate)))
        _ = try await world.bench.advance(until: done, world.holder, world.author)
        let refused = world.order(.command(MeterCommand(.brightness, 99)))
        await #expect(throws: GatewayError.self) {
            _ = try await world.bench.advance(until: refused, world.holder, world.author)
        }
        let begun = world.order(.startRecording(name: "from afar"))
        _ = try await world.bench.advance(until: begun, world.holder, world.author)

        let author = LogAuthor.host(world.author.keeper.identity.host, name: "pi2")
        let told = try await world.holder.host.happened.entries(of: [.um]).compactMap { entry in
            if case .command(let what, author, let outcome) = entry.event { (what, outcome) } else { nil }
        }
        #expect(told.map(\.0) == ["rotate", "brightness 99", "record start \"from afar\""])
        #expect([told[0].1, told[2].1] == ["sent", "done"] && told[1].1.hasPrefix("brightness 99"))
        #expect(try await world.author.host.happened.entries(of: [.um]).isEmpty)
        try await world.leave()
    }

    @Test func refusal_isInTheHoldersWords() async throws {
        let world = try await World()
        let order = world.order(.command(MeterCommand(.brightness, 99)))
        let error = await #expect(throws: GatewayError.self) {
            _ = try await world.bench.advance(until: order, world.holder, world.author)
        }
        #expect(error?.code == .badRequest)
        #expect(error?.message.hasPrefix("pi1, which has bench, refused it: ") == true, "\(String(describing: error))")
        #expect(world.commands == [])
        try await world.leave()
    }

    @Test func hostThatTakesNoCommands_doesNothing() async throws {
        let world = try await World(isAllowed: false)
        let order = world.order(.startRecording(name: nil))
        let error = await #expect(throws: GatewayError.self) {
            _ = try await world.bench.advance(until: order, world.holder, world.author)
        }
        #expect(error?.next.contains("[relay] commands") == true)
        #expect(world.done == [])
        try await world.leave()
    }

    /// The holder does not know whether its claim was granted: it does nothing, and the author is told that it may have.
    @Test func claim_whoseAnswerIsLost_isNotDone_andNobodySaysSo() async throws {
        let world = try await World()
        world.relay.loseClaims()
        let order = world.order(.command(MeterCommand(.rotate)))
        try await eventually("it is claimed") { world.relay.claimCount == 1 }
        await world.bench.advance(by: .seconds(20), world.holder, world.author)
        world.relay.giveUp()
        let error = await #expect(throws: GatewayError.self) { _ = try await order.value }
        #expect(error?.code == .timedOut)
        #expect(world.done == [])
        try await world.leave()
    }

    /// A holder that is slow, or that slept, between its claim and the answer.
    @Test func claim_thatIsAnsweredTooLate_isNotDone() async throws {
        let world = try await World()
        world.relay.delayClaims { [loop = world.bench.loop] in loop.advance(by: .seconds(5)) }
        let order = world.order(.command(MeterCommand(.rotate)))
        let error = await #expect(throws: GatewayError.self) { _ = try await order.value }
        #expect(error?.message.hasPrefix("the command was not done: ") == true)
        #expect(world.done == [])
        #expect(world.commands == [])
        try await world.leave()
    }

    /// The permission is looked up again after the claim, not before it.
    @Test func lease_thatIsGivenBackWhileTheClaimIsOnItsWay_endsTheCommand() async throws {
        let world = try await World()
        world.relay.delayClaims { [session = world.session] in await session.disconnect() }
        let order = world.order(.command(MeterCommand(.rotate)))
        let error = await #expect(throws: GatewayError.self) {
            _ = try await world.bench.advance(until: order, world.holder, world.author)
        }
        #expect(error?.message.hasPrefix("the command was not done: ") == true)
        #expect(world.done == [])
        try await world.leave()
    }

    @Test func meter_thatNobodyElseHas_isForThisHostToCommand() async throws {
        let world = try await World()
        #expect(try await world.commander.order(.stopRecording, of: .other, named: "other") == nil)
        try await world.leave()
    }

    @Test func questionAboutALog_isAnswered() async throws {
        let world = try await World()
        let question = LogQuestion(id: .numbered(1), meter: .um, within: .seconds(60), copy: "a copy")
        await world.executor.handle(.log(question))
        try await eventually("it is answered") { world.relay.logAnswers.count == 1 }
        #expect(world.relay.logAnswers[question] == LogPart(lines: [], isCut: true))
        try await world.leave()
    }

    /// Nothing goes out to the meter after the deadline, however long the line was busy.
    @Test func command_isNotSent_afterItsDeadline() async throws {
        let host = VirtualHost()
        let session = try await host.pluggedIn(.um25c)
        host.loop.advance(by: .milliseconds(5100))
        // Each command keeps the line busy for half a second.
        let first = Task.immediate { try await session.perform(MeterCommand(.rotate)) }
        let late = Task.immediate { [loop = host.loop] in
            try await session.perform(MeterCommand(.nextScreen), by: loop.now + .milliseconds(100))
        }
        host.loop.advance(by: .seconds(3))
        try await first.value
        let error = await #expect(throws: GatewayError.self) { try await late.value }
        #expect(error?.code == .timedOut)
        #expect(host.links.writes(to: .port).map(\.bytes).filter { $0 != [0xF0] } == [[0xF2]])
        #expect(await host.leave(session) == .none)
    }
}
