import LinuxIO

/// Bytes that a simulated meter has sent and its line has not accepted yet. If the line has room, each write of the
/// meter is one write to the line.
struct Output {
    /// Maximum number of bytes; further writes are lost. A real meter's buffers would overflow much earlier.
    private static let capacity = 65_536

    private var writes: [[UInt8]] = []
    private var first = 0
    private var offset = 0
    private var byteCount = 0
    private(set) var isWaiting = false

    var isEmpty: Bool { first == writes.count }

    mutating func append(_ bytes: [UInt8]) {
        guard !bytes.isEmpty, byteCount + bytes.count <= Self.capacity else { return }
        writes.append(bytes)
        byteCount += bytes.count
    }

    mutating func discardAll() {
        writes.removeAll()
        first = 0
        offset = 0
        byteCount = 0
    }

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
