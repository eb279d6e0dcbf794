/// Bytes that have come and are not yet a frame: what every streaming decoder is built on.
///
/// It stays small because a decoder that has run dry leaves less than one frame waiting (DecoderVerifier and the
/// fuzzers hold every decoder to that), and a channel delivers a bounded piece at a time. Taking a frame copies nothing;
/// the bytes taken last stay readable (`lastTaken`) until the next `append`.
package struct ReceiveBuffer: Sendable {
    private var storage: [UInt8] = []
    private var head = 0
    private var taken: Range<Int> = 0..<0

    /// - Parameter capacity: room made at the start, so that orderly traffic never allocates.
    package init(capacity: Int) {
        storage.reserveCapacity(capacity)
    }

    /// How many bytes wait.
    package var count: Int { storage.count - head }

    /// Puts bytes behind those that wait.
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

    /// The byte at an offset from the first waiting one. The caller has checked `count`.
    package subscript(offset: Int) -> UInt8 { storage[head + offset] }

    /// Runs `body` on the waiting bytes, first byte at 0.
    package func withBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try storage.withUnsafeBytes { try body(UnsafeRawBufferPointer(rebasing: $0[head...])) }
    }

    /// Takes up to `length` bytes out as a frame.
    package mutating func take(_ length: Int) {
        let end = min(head + length, storage.count)
        taken = head..<end
        head = end
    }

    /// Takes up to `length` bytes out as noise.
    package mutating func drop(_ length: Int) {
        head = min(head + length, storage.count)
    }

    /// Forgets everything that waits.
    package mutating func removeAll() {
        head = storage.count
        taken = 0..<0
    }

    /// The bytes of the frame taken last, valid until the next `append`.
    package var lastTaken: [UInt8] { Array(storage[taken]) }

    /// The offset of the first waiting byte equal to `value`, at or after `start`; nil when there is none.
    package func firstOffset(of value: UInt8, from start: Int = 0) -> Int? {
        guard start < count else { return nil }
        return storage[(head + start)...].firstIndex(of: value).map { $0 - head }
    }
}
