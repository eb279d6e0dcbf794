/// Buffer for received bytes that do not form a complete frame yet.
///
/// Less than one frame remains once the decoder's `next` returns nil (checked by DecoderVerifier and the fuzzers).
/// Taking a frame copies nothing.
package struct ReceiveBuffer: Sendable {
    private var storage: [UInt8] = []
    private var head = 0
    private var taken: Range<Int> = 0..<0

    /// - Parameter capacity: bytes to reserve, so that normal traffic never allocates.
    package init(capacity: Int) {
        storage.reserveCapacity(capacity)
    }

    package var count: Int { storage.count - head }

    package mutating func append(_ bytes: [UInt8]) {
        taken = 0..<0
        if head == storage.count {
            storage.removeAll(keepingCapacity: true)
            head = 0
        } else if head > 0, storage.count + bytes.count > storage.capacity {
            storage.removeSubrange(0..<head)
            head = 0
        }
        storage.append(contentsOf: bytes)
    }

    /// Byte at an offset from the first waiting byte. The caller checks `count` first.
    package subscript(offset: Int) -> UInt8 { storage[head + offset] }

    package func withBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try storage.withUnsafeBytes { try body(UnsafeRawBufferPointer(rebasing: $0[head...])) }
    }

    /// Removes up to `length` bytes as a frame.
    package mutating func take(_ length: Int) {
        let end = min(head + length, storage.count)
        taken = head..<end
        head = end
    }

    /// Removes up to `length` bytes as noise.
    package mutating func drop(_ length: Int) {
        head = min(head + length, storage.count)
    }

    package mutating func removeAll() {
        head = storage.count
        taken = 0..<0
    }

    /// Bytes of the frame taken last, valid until the next `append`.
    var lastTaken: [UInt8] { Array(storage[taken]) }

    func firstOffset(of value: UInt8, from start: Int = 0) -> Int? {
        guard start < count else { return nil }
        return storage[(head + start)...].firstIndex(of: value).map { $0 - head }
    }
}
