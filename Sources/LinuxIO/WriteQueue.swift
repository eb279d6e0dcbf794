package import Domain

/// Send queue with a limit, and the pause before the next write.
package struct WriteQueue {
    /// Capacity in bytes, more than any meter needs. A link with a longer backlog is stuck.
    package static let capacity = 65_536

    private let framing: Framing
    private var bytes: [UInt8] = []
    private var start = 0
    /// Lengths of the waiting packets, in order; empty for a stream.
    private var lengths: ArraySlice<Int> = []
    private let gap: Duration
    private var quietUntil: MonotonicTime?

    /// - Parameter gap: pause after each write, so that two writes to a slow line are never adjacent.
    package init(_ framing: Framing, gap: Duration = .zero) {
        self.framing = framing
        self.gap = gap
    }

    package var count: Int { bytes.count - start }
    package var isEmpty: Bool { count == 0 }

    package func pause(at now: MonotonicTime) -> MonotonicTime? { quietUntil.flatMap { now < $0 ? $0 : nil } }

    package mutating func wrote(at now: MonotonicTime) {
        if gap > .zero { quietUntil = now + gap }
    }

    /// Returns false, without queuing the bytes, if they exceed the limit.
    package mutating func append(_ new: [UInt8]) -> Bool {
        guard count + new.count <= Self.capacity else { return false }
        guard !new.isEmpty else { return true }
        if framing == .packets { lengths.append(new.count) }
        if isEmpty {
            // Store the caller's array, which avoids a copy.
            bytes = new
            start = 0
        } else {
            bytes += new
        }
        return true
    }

    /// Passes the next bytes to `body`: all bytes of a stream, or one packet.
    package func withNext<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let end = lengths.first.map { start + $0 } ?? bytes.count
        return try bytes.withUnsafeBufferPointer { all throws(Failure) in
            try body(UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: all[start..<end])))
        }
    }

    /// - Parameter taken: number of bytes that the line accepted. A packet is always removed completely: its rest would
    ///   become another packet.
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
