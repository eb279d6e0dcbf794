import CloudAPI
import MeterModel

/// Commands on their way to the host that has a meter, and what became of each. A value: the time is passed in.
///
/// A command is done at most once and never late: whoever wants to do it claims it first, one claim is granted, and none
/// once its time to be claimed is over. So a command of which this says `notDone` is not done by anybody.
struct CommandLedger {
    struct Key: Hashable, Comparable {
        var zone: String
        var requestID: RequestID

        static func < (one: Self, other: Self) -> Bool {
            (one.zone, one.requestID.description) < (other.zone, other.requestID.description)
        }
    }

    /// A command, at whom it is aimed and by whom.
    struct Order: Hashable {
        var meter: String
        /// Of the lease at which it is aimed.
        var token: UInt64
        var holder: HostID
        var holderName: String
        var author: HostID
        var authorName: String
        var action: RelayActionBody
    }

    fileprivate enum Phase {
        /// Valid transitions: `claimed`, `ended`.
        case waiting(until: MonotonicTime)
        /// Valid transition: `ended`.
        case claimed(until: MonotonicTime)
        case ended(RelayCommandAnswer, forgetAt: MonotonicTime)
    }

    fileprivate struct Entry {
        var order: Order
        var phase: Phase
    }

    static let claimTime = Duration.milliseconds(CloudLimits.claimMilliseconds)
    static let outcomeTime = Duration.milliseconds(CloudLimits.outcomeMilliseconds)
    /// How long an outcome is kept for who asks again.
    static let keptFor = Duration.seconds(60)
    /// Most commands of one host of which the outcome is not known.
    static let openPerHost = 32
    /// Most commands, with those whose outcome is kept.
    static let countMax = 16_384

    private var entries: [Key: Entry] = [:]

    var count: Int { entries.count }

    /// Takes a command in.
    ///
    /// - Returns: whether it is new.
    /// - Throws: `rateLimited`; `badRequest` where the id was used for another command.
    mutating func take(_ key: Key, _ order: Order, at now: MonotonicTime) throws(CloudFailure) -> Bool {
        if let known = entries[key] {
            guard known.order == order else {
                throw CloudFailure(.badRequest, "the id \(key.requestID) was used for another command; make a new one")
            }
            return false
        }
        let open = entries.values.count { $0.order.author == order.author && $0.isOpen }
        guard open < Self.openPerHost, entries.count < Self.countMax else {
            throw CloudFailure(
                .rateLimited, "\(open) commands of this host wait for their outcome; wait for those",
                retryAfter: .seconds(1))
        }
        entries[key] = Entry(order: order, phase: .waiting(until: now + Self.claimTime))
        return true
    }

    /// Commands that wait for their holder, for one that has just come.
    func waiting(for holder: HostID, in zone: String) -> [(Key, Order)] {
        entries.filter { key, entry in
            guard case .waiting = entry.phase else { return false }
            return key.zone == zone && entry.order.holder == holder
        }
        .sorted { $0.key < $1.key }.map { ($0.key, $0.value.order) }
    }

    func order(_ key: Key) -> Order? { entries[key]?.order }

    /// Grants the claim of who is about to do it.
    ///
    /// - Throws: `notFound` unless the command waits to be claimed by this host.
    mutating func claim(_ key: Key, by host: HostID, token: UInt64, at now: MonotonicTime) throws(CloudFailure) {
        guard let entry = entries[key], entry.order.holder == host, entry.order.token == token,
            case .waiting(let until) = entry.phase, now < until
        else {
            throw CloudFailure(.notFound, "the command \(key.requestID) must not be done: it is claimed, or over")
        }
        entries[key]?.phase = .claimed(until: now + Self.outcomeTime)
    }

    /// The holder said what it did. Ignored for a command whose outcome is known.
    ///
    /// - Returns: whether it became the command's outcome.
    mutating func answer(
        _ key: Key, by host: HostID, token: UInt64, _ answer: RelayCommandAnswer, at now: MonotonicTime
    ) -> Bool {
        guard let entry = entries[key], entry.order.holder == host, entry.order.token == token, entry.isOpen else {
            return false
        }
        var answer = answer
        // Who has not claimed it cannot have done it.
        if case .waiting = entry.phase, answer.outcome == .done || answer.outcome == .timedOut {
            answer = RelayCommandAnswer(.notDone, message: "the holder did it without asking")
        }
        end(key, answer, at: now)
        return true
    }

    /// Nobody waits for the outcome any more. A command that is not claimed is not done then.
    mutating func withdraw(_ key: Key, at now: MonotonicTime) {
        guard case .waiting? = entries[key]?.phase else { return }
        end(key, RelayCommandAnswer(.notDone, message: "it was taken back"), at: now)
    }

    /// The meter has changed hands before the command was claimed.
    mutating func changedHands(_ key: Key, at now: MonotonicTime) {
        guard case .waiting? = entries[key]?.phase else { return }
        end(key, RelayCommandAnswer(.notDone, message: "the meter changed hands before it was done"), at: now)
    }

    /// Ends what has waited long enough, and forgets old outcomes.
    ///
    /// - Returns: the commands that have ended so.
    mutating func passed(_ now: MonotonicTime) -> [Key] {
        var ended: [Key] = []
        for (key, entry) in entries {
            switch entry.phase {
            case .waiting(let until) where until <= now:
                let said = "\(entry.order.holderName) did not take it within \(Self.claimTime.milliseconds / 1000) s"
                end(key, RelayCommandAnswer(.notDone, message: said), at: now)
                ended.append(key)
            case .claimed(let until) where until <= now:
                let said = "\(entry.order.holderName) took it and did not say what became of it"
                end(key, RelayCommandAnswer(.timedOut, message: said), at: now)
                ended.append(key)
            case .ended(_, let forgetAt) where forgetAt <= now: entries[key] = nil
            default: break
            }
        }
        return ended.sorted()
    }

    /// Ends everything: this copy of the cloud stops.
    mutating func close(at now: MonotonicTime) {
        for key in entries.filter(\.value.isOpen).keys {
            if case .claimed? = entries[key]?.phase {
                end(key, RelayCommandAnswer(.timedOut, message: "the cloud stopped meanwhile"), at: now)
            } else {
                end(key, RelayCommandAnswer(.notDone, message: "the cloud stopped before it was done"), at: now)
            }
        }
    }

    /// What became of a command; nil while that is open.
    func outcome(_ key: Key) -> RelayCommandAnswer? {
        guard case .ended(let answer, _)? = entries[key]?.phase else { return nil }
        return answer
    }

    private mutating func end(_ key: Key, _ answer: RelayCommandAnswer, at now: MonotonicTime) {
        var answer = answer
        answer.holderName = entries[key]?.order.holderName
        entries[key]?.phase = .ended(answer, forgetAt: now + Self.keptFor)
    }
}

extension CommandLedger.Entry {
    fileprivate var isOpen: Bool {
        if case .ended = phase { false } else { true }
    }
}
