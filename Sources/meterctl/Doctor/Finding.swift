/// What one check of `meterctl doctor` found.
struct Finding: Encodable, Hashable {
    enum Verdict: String, Encodable {
        case ok
        /// Nothing is broken by it, but somebody who is stuck wants to know.
        case note
        /// Keeps something from working.
        case problem
    }

    /// The name of the check, one word.
    var check: String
    var verdict: Verdict
    /// What is, in a sentence.
    var message: String
    /// What to do; null where there is nothing to do.
    var next: String?

    init(_ check: String, _ verdict: Verdict, _ message: String, next: String? = nil) {
        self.check = check
        self.verdict = verdict
        self.message = message
        self.next = next
    }

    private enum CodingKeys: String, CodingKey { case check, verdict, message, next }

    /// Written out so that what is unknown is `null` and not missing.
    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(check, forKey: .check)
        try container.encode(verdict, forKey: .verdict)
        try container.encode(message, forKey: .message)
        try container.encode(next, forKey: .next)
    }
}
