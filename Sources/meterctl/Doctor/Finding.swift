import GatewayAPI

/// Result of one check of `meterctl doctor`.
struct Finding: Encodable, Hashable {
    enum Verdict: String, Encodable {
        case ok
        /// Useful information; nothing is broken.
        case note
        /// A fault that prevents something from working.
        case problem
    }

    var check: String
    var verdict: Verdict
    var message: String
    /// Remedy; null if none is needed.
    @NullCodable var next: String? = nil

    init(_ check: String, _ verdict: Verdict, _ message: String, next: String? = nil) {
        self.check = check
        self.verdict = verdict
        self.message = message
        self.next = next
    }
}
