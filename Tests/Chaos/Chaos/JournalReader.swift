import CloudAPI
import Domain
import Foundation
import LeaseWitness
import SimulatedCloud

/// All that the processes of one run wrote down.
struct JournalReader {
    struct Use {
        var time: Int64
        var meter: String
        var host: String
        var token: UInt64
    }

    /// By zone.
    var operations: [String: [LeaseOperation]] = [:]
    var uses: [String: [Use]] = [:]
    var commands = CommandLedger()
    /// Settings by their zone, record and property.
    var written: [String: Int64] = [:]
    var acknowledged: [String: Int64] = [:]
    var found: [String: Int64] = [:]
    /// By zone: each host's number of records and their digest.
    var ends: [String: [(host: String, state: String)]] = [:]
    var surprises: [String] = []
    /// Readings of meters elsewhere that were shown, and how often one of those changed hands while it was watched.
    var (seen, handovers) = (0, 0)
    /// By zone: how its policy changed.
    var policies: [String: PolicyHistory] = [:]
    /// When a host was told that the store went back, and the zone.
    var timelinesLost: [(time: MonotonicTime, zone: String)] = []
    private(set) var lines = 0
    /// What is later is as if it had not been: files that are still written to are read one after the other. nil: all.
    var until: MonotonicTime?

    /// - Throws: where a line is none. The last one of a process that was killed is whole, for it is one write.
    mutating func read(_ path: String) throws {
        guard let text = FileManager.default.contents(atPath: path) else { throw ChaosFailure("\(path) is not there") }
        // Calls of this file that have not ended.
        var open: [Substring: LeaseOperation] = [:]
        var zones: [Substring: String] = [:]
        for bytes in text.split(separator: UInt8(ascii: "\n")) {
            lines += 1
            let words = String(decoding: bytes, as: UTF8.self).split(separator: " ")
            switch words[0] {
            case "call":
                // The process that began the one before with this number was killed, and the next one counts anew.
                if let killed = open[words[1]] { add(killed, in: zones[words[1]] ?? "") }
                open[words[1]] = try call(words)
                zones[words[1]] = String(words[3])
            case "end":
                guard var operation = open[words[1]] else { throw ChaosFailure("an end without a call: \(words)") }
                operation.returnedAt = try time(words[2])
                operation.outcome = try outcome(words)
                // One that ends later has not ended yet.
                guard isSeen(operation.returnedAt) else { continue }
                open[words[1]] = nil
                add(operation, in: zones[words[1]] ?? "")
            case "saw":
                let sight = try sight(words[5], words[6])
                let operation = LeaseOperation(
                    meter: String(words[4]), request: .read, outcome: .seen(sight), calledAt: try time(words[1]),
                    returnedAt: try time(words[2]))
                if isSeen(operation.returnedAt) { add(operation, in: String(words[3])) }
            case "did": commands.add(.did(try id(words[1])))
            case "heard":
                guard let outcome = RelayCommandAnswer.Outcome(rawValue: String(words[2])) else {
                    throw ChaosFailure("no outcome of a command: \(words)")
                }
                commands.add(
                    .heard(try id(words[1]), outcome, isRepeat: words[3] == "true", isLate: words[4] == "true"))
            case "use" where !isSeen(try time(words[1])): break
            case "use":
                uses[String(words[2]), default: []].append(
                    Use(
                        time: Int64(words[1]) ?? 0, meter: String(words[3]), host: String(words[4]),
                        token: UInt64(words[5]) ?? 0))
            case "wrote": written[words[1...3].joined(separator: " ")] = Int64(words[4])
            case "acknowledged": acknowledged[words[1...3].joined(separator: " ")] = Int64(words[4])
            case "found": found[words[1...3].joined(separator: " ")] = Int64(words[4])
            case "ended":
                ends[String(words[1]), default: []].append((String(words[2]), "\(words[3]) records, \(words[4])"))
            case "timeline": timelinesLost.append((try time(words[1]), String(words[2])))
            case "policy": try addPolicy(words)
            // Of those the run asks, which waits for them (cluster.py).
            case "pushed", "fetched": break
            case "watched":
                seen += Int(words[1]) ?? 0
                handovers += Int(words[2]) ?? 0
            case "surprise": surprises.append(words.dropFirst().joined(separator: " "))
            default: throw ChaosFailure("no line of a journal: \(words)")
            }
        }
        for (number, operation) in open { add(operation, in: zones[number] ?? "") }
    }

    /// `policy CALLED RETURNED ZONE POLICY`, `-` for a change that got no answer.
    private mutating func addPolicy(_ words: [Substring]) throws {
        guard let policy = LeasePolicy(rawValue: String(words[4])) else { throw ChaosFailure("no policy: \(words)") }
        let zone = String(words[3])
        var history = policies[zone] ?? PolicyHistory(WitnessZones.changing.terms.policy)
        let calledAt = try time(words[1])
        if words[2] == "-" {
            history.changeWithoutAnswer(calledAt: calledAt)
        } else {
            history.change(to: policy, calledAt: calledAt, returnedAt: try time(words[2]))
        }
        policies[zone] = history
    }

    private func isSeen(_ time: MonotonicTime) -> Bool { until.map { time < $0 } ?? true }

    private mutating func add(_ operation: LeaseOperation, in zone: String) {
        if isSeen(operation.calledAt) { operations[zone, default: []].append(operation) }
    }

    private func call(_ words: [Substring]) throws -> LeaseOperation {
        let request: LeaseOperation.Request =
            switch words[5] {
            case "acquire":
                .acquire(
                    LeaseOperation.Acquire(
                        requestID: try id(words[6]), host: try id(words[7]), session: try id(words[8]),
                        previousSession: words[9] == "-" ? nil : try id(words[9]),
                        takeover: words[10] == "-" ? nil : try token(words[10])))
            case "renew": .renew(session: try id(words[6]), token: try token(words[7]))
            case "release": .release(session: try id(words[6]), token: try token(words[7]))
            default: throw ChaosFailure("no call: \(words)")
            }
        let calledAt = try time(words[2])
        return LeaseOperation(
            meter: String(words[4]), request: request, outcome: .unknown, calledAt: calledAt, returnedAt: calledAt)
    }

    private func outcome(_ words: [Substring]) throws -> LeaseOperation.Outcome {
        switch words[3] {
        case "granted": return .granted(try token(words[4]))
        case "refused":
            guard let reason = LeaseAnswer.Refusal.Reason(rawValue: String(words[4])) else { break }
            return .refused(reason, words[5] == "?" ? nil : try sight(words[5], words[6]))
        case "renewed": return .renewed
        case "lost":
            guard let loss = LeaseRenewal.Loss(rawValue: String(words[4])) else { break }
            return .lost(loss)
        case "done": return .done
        case "unknown": return .unknown
        default: break
        }
        throw ChaosFailure("no outcome: \(words)")
    }

    private func id<Tag>(_ word: Substring) throws -> UniqueID<Tag> {
        guard let id = UniqueID<Tag>(word) else { throw ChaosFailure("no id: \(word)") }
        return id
    }

    private func token(_ word: Substring) throws -> FencingToken {
        guard let number = UInt64(word) else { throw ChaosFailure("no token: \(word)") }
        return FencingToken(rawValue: number)
    }

    private func time(_ word: Substring) throws -> MonotonicTime {
        guard let number = Int64(word) else { throw ChaosFailure("no time: \(word)") }
        return MonotonicTime(sinceOrigin: .nanoseconds(number))
    }

    private func sight(_ holder: Substring, _ seen: Substring) throws -> LeaseOperation.Sight {
        LeaseOperation.Sight(
            holder: holder == "-" ? nil : try id(holder), token: seen == "-" ? nil : try token(seen))
    }
}
