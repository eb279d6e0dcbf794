import LinuxIO

/// What a meter has sent and its line has not taken: each write of the meter's is one of the line's, where it fits.
struct Output {
    /// Above this a meter's own buffers would have run over long ago; further writes are lost.
    private static let capacity = 65_536

    private var writes: [[UInt8]] = []
    private var first = 0
    /// How much of the first write has gone.
    private var offset = 0
    private var byteCount = 0
    /// The line was full when last written to.
    private(set) var isWaiting = false

    var isEmpty: Bool { first == writes.count }

    mutating func append(_ bytes: [UInt8]) {
        guard !bytes.isEmpty, byteCount + bytes.count <= Self.capacity else { return }
        writes.append(bytes)
        byteCount += bytes.count
    }

    /// Forgets what waits; the line is written to again when it takes something.
    mutating func discardAll() {
        writes.removeAll()
        first = 0
        offset = 0
        byteCount = 0
    }

    /// Writes until the line is full or nothing is left.
    mutating func write(to line: FileDescriptor) throws(Errno) {
        while !isEmpty {
            let offset = offset
            let taken = try writes[first].withUnsafeBufferPointer { bytes throws(Errno) in
                try line.write(UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: bytes[offset...])))
            }
            guard let taken else {
                isWaiting = true
                return
            }
            took(taken)
        }
        isWaiting = false
        writes.removeAll(keepingCapacity: true)
        first = 0
    }

    private mutating func took(_ count: Int) {
        byteCount -= count
        offset += count
        if offset >= writes[first].count {
            offset = 0
            first += 1
        }
    }
}
