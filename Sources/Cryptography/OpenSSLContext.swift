import COpenSSL

/// A library context of OpenSSL that is ours alone (OSSL_LIB_CTX(3)).
///
/// Unlike the default one it reads no `openssl.cnf`, so that no setting of the machine can take an algorithm away, and the
/// broker's client, which shares the library, keeps its own. It is never changed or freed, and OpenSSL locks what threads
/// share of it.
package final class OpenSSLContext: @unchecked Sendable {
    package static let shared = OpenSSLContext()

    package let pointer: OpaquePointer

    private init() {
        guard let pointer = OSSL_LIB_CTX_new() else { preconditionFailure("No memory for OpenSSL's context") }
        self.pointer = pointer
    }
}
