import CloudAPI
import MeterModel

/// Questions about meters' logs, and what hosts have answered. A value: the time is passed in.
///
/// A question is answered once every host that was asked has said something, or after `patience`. Each host's first word
/// counts. Nothing is kept of a question that is answered.
struct LogLedger {
    typealias Key = CommandLedger.Key

    /// What hosts said, and which did not.
    struct Answer: Hashable {
        var parts: [HostID: RelayLogAnswer.Part] = [:]
        /// With their names.
        var silent: [HostID: String] = [:]

        /// Adds what hosts said at another copy. A host that listens to both, as while it changes, has one part.
        mutating func add(_ other: Answer) {
            parts.merge(other.parts) { own, _ in own }
            silent.merge(other.silent) { own, _ in own }
            for host in parts.keys { silent[host] = nil }
        }
    }

    private struct Question {
        var asker: HostID
        var answer: Answer
        var bytes = 0
        var until: MonotonicTime
    }

    static let patience = Duration.milliseconds(CloudLimits.logMilliseconds)
    /// Most questions of one host that are not answered.
    static let openPerHost = 4
    /// Most questions that are not answered.
    static let countMax = 1024
    /// Most bytes of all parts together: what comes beyond is refused, and its host counts as silent.
    static let bytesMax = 64 << 20

    private var questions: [Key: Question] = [:]
    private var bytes = 0

    /// Whether a question waits here for its answer.
    func has(_ key: Key) -> Bool { questions[key] != nil }

    /// Number of questions that are not answered.
    var count: Int { questions.count }

    /// - Parameter hosts: those that are asked, with their names.
    /// - Throws: `rateLimited`.
    mutating func ask(
        _ key: Key, by asker: HostID, of hosts: [HostID: String], at now: MonotonicTime
    ) throws(CloudFailure) {
        let open = questions.values.count { $0.asker == asker }
        guard open < Self.openPerHost, questions.count < Self.countMax else {
            throw CloudFailure(
                .rateLimited, "\(open) questions of this host about logs wait for their answer; wait for those",
                retryAfter: .seconds(1))
        }
        questions[key] = Question(asker: asker, answer: Answer(silent: hosts), until: now + Self.patience)
    }

    /// A host's part has come.
    ///
    /// - Parameter bytes: that it takes.
    /// - Returns: whether somebody waits for it.
    /// - Throws: `rateLimited` where there is no room for it.
    mutating func answer(
        _ key: Key, by host: HostID, _ part: RelayLogAnswer.Part, bytes size: Int
    ) throws(CloudFailure) -> Bool {
        guard questions[key]?.answer.silent[host] != nil else { return false }
        guard size <= Self.bytesMax - bytes else {
            throw CloudFailure(
                .rateLimited, "the logs of too many meters are being collected just now", retryAfter: .seconds(1))
        }
        bytes += size
        questions[key]?.bytes += size
        questions[key]?.answer.silent[host] = nil
        questions[key]?.answer.parts[host] = part
        return true
    }

    /// Ends the questions that are answered or have waited long enough.
    ///
    /// - Returns: the answers, in the order of the keys.
    mutating func takeAnswered(at now: MonotonicTime) -> [(Key, Answer)] {
        questions.filter { $0.value.answer.silent.isEmpty || $0.value.until <= now }.keys.sorted().compactMap { key in
            take(key).map { (key, $0) }
        }
    }

    /// Ends a question: with what has come, for whoever still wants it.
    mutating func take(_ key: Key) -> Answer? {
        guard let question = questions.removeValue(forKey: key) else { return nil }
        bytes -= question.bytes
        return question.answer
    }

    /// Ends everything: this copy of the cloud stops.
    mutating func close() -> [(Key, Answer)] {
        questions.keys.sorted().compactMap { key in take(key).map { (key, $0) } }
    }
}
