import GatewayAPI

/// What one check of `meterctl doctor` found.
struct Finding: Encodable, Hashable {
    enum Verdict: String, Encodable {
        case ok
        /// Nothing is broken, but somebody who is stuck should know.
        case note
        /// It keeps something from working.
        case problem
    }

    /// The name of the check, a single word.
    var check: String
    var verdict: Verdict
    /// What was found, in a sentence.
    var message: String
    /// What to do; null if there is nothing to do.
    @NullCodable var next: String? = nil

    init(_ check: String, _ verdict: Verdict, _ message: String, next: String? = nil) {
        self.check = check
        self.verdict = verdict
        self.message = message
        self.next = next
    }
}
