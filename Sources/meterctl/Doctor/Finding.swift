import GatewayAPI

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
    @NullCodable var next: String? = nil

    init(_ check: String, _ verdict: Verdict, _ message: String, next: String? = nil) {
        self.check = check
        self.verdict = verdict
        self.message = message
        self.next = next
    }
}
