/// Received bytes that do not make a frame yet: the basis of every streaming decoder.
///
/// It stays small because a decoder whose `next` has returned nil leaves less than one frame waiting (DecoderVerifier
/// and the fuzzers hold every decoder to that), and because a channel delivers a bounded piece at a time. Taking a
/// frame copies nothing; the bytes taken last stay readable (`lastTaken`) until the next `append`.
package struct ReceiveBuffer: Sendable {
    private var storage: [UInt8] = []
    private var head = 0
    private var taken: Range<Int> = 0..<0

    /// - Parameter capacity: room reserved at the start, so that normal traffic never allocates.
    package init(capacity: Int) {
        storage.reserveCapacity(capacity)
    }

    /// Number of waiting bytes.
    package var count: Int { storage.count - head }

    /// Appends bytes to those that wait.
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

    /// The byte at an offset from the first waiting one. The caller checks `count` first.
    package subscript(offset: Int) -> UInt8 { storage[head + offset] }

    /// Runs `body` on the waiting bytes, the first at offset 0.
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

    /// Discards all waiting bytes.
    package mutating func removeAll() {
        head = storage.count
        taken = 0..<0
    }

    /// The bytes of the frame taken last, valid until the next `append`.
    var lastTaken: [UInt8] { Array(storage[taken]) }

    /// The offset of the first waiting byte equal to `value`, at or after `start`, if any.
    func firstOffset(of value: UInt8, from start: Int = 0) -> Int? {
        guard start < count else { return nil }
        return storage[(head + start)...].firstIndex(of: value).map { $0 - head }
    }
}
