import CloudAPI
import CoreTestKit
import Domain
import MeterTestKit
import StoreTestKit
import Synchronization
import Testing

@testable import Cloud

/// Commands and their repeats through copies of a cloud that die, while the meter changes hands: one that was done is never
/// said not to be, and none is given to the meter twice.
struct CommandWalkTests {
    @Test(arguments: UInt64(1)...20)
    func command_isDoneOnce_throughAnyCopies(seed: UInt64) async throws {
        let walk = try await CommandWalk(seed: seed)
        try await walk.run(300)
        #expect(walk.faults == [])
        // Otherwise nothing was tried.
        #expect(walk.doneCount > 10 && walk.repeatCount > 10)
    }

    /// A store that forgets commands: the walk notices.
    @Test func planted_isFound() async throws {
        var found: [String] = []
        for seed in UInt64(1)...20 where found.isEmpty {
            let walk = try await CommandWalk(seed: seed, storeForgets: true)
            try await walk.run(300)
            found = walk.faults
        }
        #expect(!found.isEmpty)
    }
}

private final class Counter: Sendable { let value = Atomic(0) }

private final class CommandWalk {
    private typealias Heard = Result<RelayCommandAnswer.Outcome, CloudFailure>

    private let holders: [Principal]
    private let author: Principal
    private let storeForgets: Bool
    private var copies: [TestCloud]
    private var rng: SeededRNG
    private var steps: UInt64 = 0
    private var copyNumber: UInt64 = 10
    private var lease: LeaseBody
    /// By command, the token that all its repeats name.
    private var tokens: [UInt64: UInt64] = [:]
    private var asked: [(id: UInt64, copy: ObjectIdentifier, task: Task<Heard, Never>)] = []
    /// Number of those who have heard what became of it.
    private let heard = Counter()
    /// How often a claim was granted.
    private var claims: [UInt64: Int] = [:]
    private(set) var faults: [String] = []

    var doneCount: Int { claims.count }
    var repeatCount: Int { asked.count - tokens.count }

    init(seed: UInt64, storeForgets: Bool = false) async throws {
        let cloud = try await TestCloud()
        copies = [cloud, cloud.anotherCopy(1), cloud.anotherCopy(2)]
        holders = [try await cloud.join(1), try await cloud.join(3)]
        author = try await cloud.join(2)
        lease = try await cloud.acquire(holders[0], session: 1)
        self.storeForgets = storeForgets
        rng = SeededRNG(seed: seed)
    }

    func run(_ count: Int) async throws {
        for _ in 0..<count {
            steps += 1
            switch Int.random(in: 0..<10, using: &rng) {
            case 0...3: order()
            case 4...6: await claim()
            case 7 where steps % 5 == 0: try await takeOver()
            case 7: loseACopy()
            default: pass(Int64.random(in: 0...2500, using: &rng))
            }
            if storeForgets, steps % 7 == 0 {
                try await copies[0].engine.forget(try await copies[0].engine.commandMarks())
            }
            try await copies[0].engine.settle(Patience("others have run"), turns: 10)
        }
        let patience = Patience("everybody has heard")
        while heard.value.load(ordering: .relaxed) < asked.count {
            pass(500)
            try await copies[0].engine.settle(patience)
        }
        await judge()
    }

    private func order() {
        let id = steps / 12 + UInt64.random(in: 0..<4, using: &rng)
        let token = tokens[id] ?? lease.token
        tokens[id] = token
        let copy = copies[Int.random(in: 0..<copies.count, using: &rng)]
        let request = RelayCommandRequest(
            requestID: RequestID.numbered(id).description, token: token, action: RelayActionBody(kind: "stopRecording"))
        let task = Task { [author, heard] () -> Heard in
            defer { heard.value.wrappingAdd(1, ordering: .relaxed) }
            do throws(CloudFailure) {
                return .success(
                    try await copy.service.command(request, of: TestCloud.meter, in: "home", by: author).outcome)
            } catch {
                return .failure(error)
            }
        }
        asked.append((id, ObjectIdentifier(copy.service), task))
    }

    /// A holder claims what some copy offers it, and says to another copy that it did it, or says nothing.
    private func claim() async {
        let copy = copies[Int.random(in: 0..<copies.count, using: &rng)]
        for (number, holder) in holders.enumerated() {
            guard let host = holder.credential.binding?.host,
                let (key, order) = copy.service.commands.offered(to: host, in: "home").randomElement(using: &rng),
                let id = tokens.keys.first(where: { .numbered($0) == key.requestID })
            else { continue }
            let (text, token) = (key.requestID.description, order.wish.token)
            let claim = RelayClaimRequest(session: SessionID.numbered(UInt64(number + 1)).description, token: token)
            let isGranted: Void? = try? await copy.service.claim(claim, text, of: order.meter, in: "home", by: holder)
            guard isGranted != nil else { continue }
            claims[id, default: 0] += 1
            guard Int.random(in: 0..<3, using: &rng) > 0 else { continue }
            let other = copies[Int.random(in: 0..<copies.count, using: &rng)]
            try? await other.service.answer(
                RelayOutcomeRequest(token: token, answer: RelayCommandAnswer(.done)), text, in: "home", by: holder)
        }
    }

    private func takeOver() async throws {
        let next = lease.holderName == "Host 1" ? 1 : 0
        lease = try await copies[0].acquire(
            holders[next], session: UInt64(next + 1), request: 1000 + steps, takeover: lease.token)
    }

    /// Whoever waited there hears nothing.
    private func loseACopy() {
        let index = Int.random(in: 0..<copies.count, using: &rng)
        let lost = ObjectIdentifier(copies[index].service)
        copyNumber += 1
        copies[index] = copies[index].anotherCopy(copyNumber)
        for asked in asked where asked.copy == lost { asked.task.cancel() }
    }

    private func pass(_ milliseconds: Int64) {
        copies[0].time.advance(by: .milliseconds(milliseconds))
        for copy in copies { copy.service.commands.passed(copy.time.now) }
    }

    private func judge() async {
        for (id, count) in claims where count > 1 { faults.append("\(id) was done \(count) times") }
        for asked in asked {
            switch (await asked.task.value, claims[asked.id] ?? 0) {
            case (.success(.done), 0): faults.append("\(asked.id) was never claimed, and is done")
            case (.success(.notDone), 1...): faults.append("\(asked.id) was claimed, and not done")
            case (.failure(let error), 1...) where error.code == .leaseLost:
                faults.append("\(asked.id) was claimed: \(error)")
            default: break
            }
        }
    }
}
