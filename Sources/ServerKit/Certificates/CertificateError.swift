import COpenSSL

/// Why a key or a certificate cannot be made or read, in OpenSSL's words.
package struct CertificateError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What was tried.
    package var step: String
    /// Empty if OpenSSL gave none.
    package var reasons: [String]

    package var description: String { reasons.isEmpty ? step : "\(step): \(reasons.joined(separator: ", "))" }

    /// One that OpenSSL has no part in: what somebody else's call noted on this thread does not belong to it.
    static func plain(_ words: String) -> Self { Self(step: words, reasons: []) }

    private init(step: String, reasons: [String]) { (self.step, self.reasons) = (step, reasons) }

    /// Takes what OpenSSL noted on this thread, so that nobody else finds it there later.
    package init(_ step: String) {
        self.step = step
        reasons = []
        while case let code = ERR_get_error(), code != 0 {
            if let reason = ERR_reason_error_string(code) { reasons.append(String(cString: reason)) }
        }
    }
}

/// The result of a call, unless it is nil.
func made<Value>(_ value: Value?, _ step: String) throws(CertificateError) -> Value {
    guard let value else { throw CertificateError(step) }
    return value
}

/// - Parameter result: of a call that gives 1 and above for success.
func succeeded(_ result: Int32, _ step: String) throws(CertificateError) {
    guard result > 0 else { throw CertificateError(step) }
}
