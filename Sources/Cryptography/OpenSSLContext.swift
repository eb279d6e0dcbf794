import COpenSSL

/// This program's own library context of OpenSSL (OSSL_LIB_CTX(3)).
///
/// Unlike the default context, it reads no `openssl.cnf`, so no setting of the machine can remove an algorithm.
/// libmosquitto, which shares the OpenSSL library, does not use this context. The context is never changed or freed,
/// and OpenSSL locks its shared parts.
package final class OpenSSLContext: @unchecked Sendable {
    package static let shared = OpenSSLContext()

    package let pointer: OpaquePointer

    private init() {
        guard let pointer = OSSL_LIB_CTX_new() else { preconditionFailure("No memory for OpenSSL's context") }
        self.pointer = pointer
    }
}
