/// Bytes on their way out that the line did not take yet, up to a bound.
package struct WriteQueue {
    /// More than any meter is ever sent at once; a line behind which this much waits is stuck.
    package static let capacity = 65_536

    private let framing: Framing
    private var bytes: [UInt8] = []
    private var start = 0
    /// Of the packets that wait, in their order; empty for a stream.
    private var lengths: ArraySlice<Int> = []

    package init(_ framing: Framing) { self.framing = framing }

    package var count: Int { bytes.count - start }
    package var isEmpty: Bool { count == 0 }

    /// - Returns: false, and nothing is queued, where that would be too much.
    package mutating func append(_ new: [UInt8]) -> Bool {
        guard count + new.count <= Self.capacity else { return false }
        // No link carries a packet of nothing.
        guard !new.isEmpty else { return true }
        if framing == .packets { lengths.append(new.count) }
        if isEmpty {
            // Takes over the caller's array: in the usual case it goes out whole and nothing is copied.
            bytes = new
            start = 0
        } else {
            bytes += new
        }
        return true
    }

    /// Lends what is next to go: all there is of a stream, or one packet.
    package func withNext<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let end = lengths.first.map { start + $0 } ?? bytes.count
        return try bytes.withUnsafeBufferPointer { all throws(Failure) in
            try body(UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: all[start..<end])))
        }
    }

    /// - Parameter taken: how much the line took of what `withNext` lent. A packet is gone whatever it took: what is left
    ///   of one would be another packet.
    package mutating func removeFirst(_ taken: Int) {
        start += lengths.popFirst() ?? min(taken, count)
        if isEmpty {
            bytes = []
            start = 0
        } else if start > Self.capacity {
            bytes.removeFirst(start)
            start = 0
        }
    }
}
