enum DER {
    /// - Parameter write: OpenSSL's encoder. Returns the number of bytes, and writes them if the pointer is not nil.
    static func bytes(
        _ step: String, write: (UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?) -> Int32
    ) throws(CertificateError) -> [UInt8] {
        let length = write(nil)
        try succeeded(length, step)
        let bytes = [UInt8](unsafeUninitializedCapacity: Int(length)) { bytes, count in
            var end = bytes.baseAddress
            count = Int(max(0, write(&end)))
        }
        try succeeded(bytes.count == Int(length) ? 1 : 0, step)
        return bytes
    }
}
