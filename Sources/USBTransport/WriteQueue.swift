/// Bytes on their way out that the line did not take yet, up to a bound.
struct WriteQueue {
    /// More than any meter is ever sent at once; a line behind which this much waits is stuck.
    static let capacity = 65_536

    private var bytes: [UInt8] = []
    private var start = 0

    var count: Int { bytes.count - start }
    var isEmpty: Bool { count == 0 }

    /// - Returns: false, and nothing is queued, where that would be too much.
    mutating func append(_ new: [UInt8]) -> Bool {
        guard count + new.count <= Self.capacity else { return false }
        if isEmpty {
            // Takes over the caller's array: in the usual case it goes out whole and nothing is copied.
            bytes = new
            start = 0
        } else {
            bytes += new
        }
        return true
    }

    /// Lends what is next to go.
    func withNext<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try bytes.withUnsafeBufferPointer { all throws(Failure) in
            try body(UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: all[start...])))
        }
    }

    mutating func removeFirst(_ taken: Int) {
        start += min(taken, count)
        if isEmpty {
            bytes = []
            start = 0
        } else if start > Self.capacity {
            bytes.removeFirst(start)
            start = 0
        }
    }
}
