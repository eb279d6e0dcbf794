import COpenSSL

/// Failure to make or read a key or certificate, in OpenSSL's words.
package struct CertificateError: Error, Hashable, Sendable, CustomStringConvertible {
    package var step: String
    /// Error messages of OpenSSL; empty if there were none.
    package var reasons: [String]

    package var description: String { reasons.isEmpty ? step : "\(step): \(reasons.joined(separator: ", "))" }

    /// Returns an error without OpenSSL's messages, because those queued on this thread belong to another call.
    static func plain(_ words: String) -> Self { Self(step: words, reasons: []) }

    private init(step: String, reasons: [String]) { (self.step, self.reasons) = (step, reasons) }

    /// Takes OpenSSL's messages out of this thread's queue, so that no later call reports them.
    package init(_ step: String) {
        self.step = step
        reasons = []
        while case let code = ERR_get_error(), code != 0 {
            if let reason = ERR_reason_error_string(code) { reasons.append(String(cString: reason)) }
        }
    }
}

func made<Value>(_ value: Value?, _ step: String) throws(CertificateError) -> Value {
    guard let value else { throw CertificateError(step) }
    return value
}

/// - Parameter result: result of a call that returns at least 1 on success.
func succeeded(_ result: Int32, _ step: String) throws(CertificateError) {
    guard result > 0 else { throw CertificateError(step) }
}
