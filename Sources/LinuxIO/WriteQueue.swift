package import Domain

/// Bytes to send that the line has not accepted yet, up to a limit, and when the line may be given the next.
package struct WriteQueue {
    /// More bytes than any meter is ever sent at once; a line with this much waiting is stuck.
    package static let capacity = 65_536

    private let framing: Framing
    private var bytes: [UInt8] = []
    private var start = 0
    /// Lengths of the waiting packets, in their order; empty for a stream.
    private var lengths: ArraySlice<Int> = []
    private let gap: Duration
    /// Nil as long as the line has not been written to.
    private var quietUntil: MonotonicTime?

    /// - Parameter gap: for how long the line is left alone after each write, counted from its end: a line that takes one
    ///   write late must not get the next at once.
    package init(_ framing: Framing, gap: Duration = .zero) {
        self.framing = framing
        self.gap = gap
    }

    package var count: Int { bytes.count - start }
    package var isEmpty: Bool { count == 0 }

    /// Until when the line must be left alone; nil if it may be written to.
    package func pause(at now: MonotonicTime) -> MonotonicTime? { quietUntil.flatMap { now < $0 ? $0 : nil } }

    /// A write has ended.
    package mutating func wrote(at now: MonotonicTime) {
        if gap > .zero { quietUntil = now + gap }
    }

    /// - Returns: false if that would be too much; then nothing is queued.
    package mutating func append(_ new: [UInt8]) -> Bool {
        guard count + new.count <= Self.capacity else { return false }
        // No link carries an empty packet.
        guard !new.isEmpty else { return true }
        if framing == .packets { lengths.append(new.count) }
        if isEmpty {
            // Adopts the caller's array: usually all of it is sent at once, and nothing is copied.
            bytes = new
            start = 0
        } else {
            bytes += new
        }
        return true
    }

    /// Lends the next bytes to send: all of a stream, or one packet.
    package func withNext<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let end = lengths.first.map { start + $0 } ?? bytes.count
        return try bytes.withUnsafeBufferPointer { all throws(Failure) in
            try body(UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: all[start..<end])))
        }
    }

    /// - Parameter taken: how many bytes the line accepted of those that `withNext` lent. A packet is removed in any
    ///   case: the rest of one would be another packet.
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
