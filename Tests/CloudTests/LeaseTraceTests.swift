import CoreTestKit
import Domain
import Testing

/// Random runs of the model of leases (Tests/Models/README.md), replayed through the real rules: each answer is the model's.
struct LeaseTraceTests {
    @Test(arguments: ["leases", "policy"])
    func rules_answerAsTheModel(_ name: String) throws {
        var (store, answers) = (ModelledStore(), 0)
        for (number, line) in try ModelLine.lines(of: name) {
            guard let expected = line["answer"] ?? store.pass(line) else { continue }
            let answer = store.answer(line)
            #expect(answer == expected, "\(name).txt:\(number): \(line.text)")
            #expect(line["token"] == nil || line.word == "release" || store.token(after: line), "\(name).txt:\(number)")
            answers += 1
        }
        // A file without answers proves nothing.
        #expect(answers > 1000)
    }
}

/// The store of the model, with the real rules: a tick is a third of the time to live, and the lock-delay is one.
private struct ModelledStore {
    private static let tick = Duration.seconds(40)

    private var now = MonotonicTime.origin
    private var record: LeaseRecord?

    /// What happens without an answer.
    ///
    /// - Returns: nil, always: nothing is to be compared.
    mutating func pass(_ line: ModelLine) -> UInt64? {
        switch line.word {
        case "run": self = ModelledStore()
        case "tick": now = now + Self.tick
        case "store": record?.renewedAt = now
        default: Issue.record("what is \(line.text)?")
        }
        return nil
    }

    /// The real rules' answer, as the model has them in numbers.
    mutating func answer(_ line: ModelLine) -> UInt64 {
        switch line.word {
        case "acquire":
            let decision = LeaseRules.acquire(request(line), of: record, in: circumstances(line))
            record = decision.record ?? record
            switch decision.answer {
            case .granted: return 3
            case .refused(let refusal): return line["why"] == Self.number(refusal.reason) ? 4 : 0
            }
        case "renew":
            let decision = LeaseRules.renew(
                FencingToken(rawValue: line["token"] ?? 0), session: session(line), of: record,
                under: policy(line), at: now)
            record = decision.record ?? record
            switch decision.answer {
            case .renewed: return 5
            case .lost(.revoking, _): return 7
            case .lost: return 6
            }
        case "release":
            let decision = LeaseRules.release(
                FencingToken(rawValue: line["token"] ?? 0), session: session(line), of: record)
            record = decision.record ?? record
            return decision.record == nil ? 0 : 1
        default:
            let decision = LeaseRules.revoke(record)
            record = decision.record ?? record
            return decision.record == nil ? 0 : 1
        }
    }

    func token(after line: ModelLine) -> Bool {
        line.word != "acquire" || line["token"] == record?.token.rawValue ?? 0
    }

    private static func number(_ reason: LeaseAnswer.Refusal.Reason) -> UInt64? {
        switch reason {
        case .held: 1
        case .revoking: 2
        case .reserved: 3
        case .released: 4
        case .restoring, .exhausted: nil
        }
    }

    private func request(_ line: ModelLine) -> LeaseAcquire {
        let host = line["host"] ?? 0
        return LeaseAcquire(
            requestID: .numbered(host * 1000 + (line["id"] ?? 0)), host: .numbered(host), hostName: "pi\(host)",
            session: session(line), previousSession: line["session"] == 1 ? .numbered(host * 10) : nil,
            timeToLive: .seconds(120), transport: .ble, takeover: Self.token(line["aim"]),
            tokenFloor: Self.token(line["claim"]))
    }

    private func circumstances(_ line: ModelLine) -> LeaseCircumstances {
        LeaseCircumstances(
            now: now, wallNow: WallTime(millisecondsSince1970: 0),
            terms: LeaseTerms(timeToLive: .seconds(120), lockDelay: Self.tick, policy: policy(line)),
            reservedFor: Self.host(line["reserved"]), nextInQueue: Self.host(line["next"]))
    }

    private func session(_ line: ModelLine) -> SessionID {
        .numbered((line["host"] ?? 0) * 10 + (line["session"] ?? 0))
    }

    private func policy(_ line: ModelLine) -> LeasePolicy { line["strict"] == 1 ? .strict : .keep }

    /// 0 is none.
    private static func token(_ number: UInt64?) -> FencingToken? {
        number.flatMap { $0 == 0 ? nil : FencingToken(rawValue: $0) }
    }

    /// 0 is none, 1 the first host.
    private static func host(_ number: UInt64?) -> HostID? {
        number.flatMap { $0 == 0 ? nil : .numbered($0 - 1) }
    }
}
