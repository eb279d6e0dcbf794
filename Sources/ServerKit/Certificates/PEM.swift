import COpenSSL

enum PEM {
    /// - Parameter write: writes to the given BIO; returns 1 on success.
    static func text(_ step: String, write: (OpaquePointer) -> Int32) throws(CertificateError) -> String {
        let memory = try made(BIO_new(BIO_s_mem()), step)
        defer { BIO_free(memory) }
        try succeeded(write(memory), step)
        let length = try made(Int32(exactly: BIO_ctrl_pending(memory)), step)
        var bytes = [UInt8](repeating: 0, count: Int(length))
        try succeeded(BIO_read(memory, &bytes, length), step)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// - Parameter read: reads from the given BIO; returns nil if it finds nothing.
    static func value<Value>(
        of text: String, _ step: String, read: (OpaquePointer) -> Value?
    ) throws(CertificateError) -> Value {
        let bytes = Array(text.utf8)
        let length = try made(Int32(exactly: bytes.count), step)
        return try made(
            bytes.withUnsafeBytes { bytes -> Value? in
                guard let memory = BIO_new_mem_buf(bytes.baseAddress, length) else { return nil }
                defer { BIO_free(memory) }
                return read(memory)
            }, step)
    }

    /// Password callback that refuses encrypted texts. OpenSSL's default would prompt on the terminal.
    static let noPassword:
        @convention(c) (UnsafeMutablePointer<CChar>?, Int32, Int32, UnsafeMutableRawPointer?) -> Int32 =
            { _, _, _, _ in -1 }
}
