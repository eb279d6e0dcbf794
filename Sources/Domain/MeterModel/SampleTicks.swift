/// When the samples in a frame were taken: a count of milliseconds that wraps at 65,536.
package struct SampleTicks: Hashable, Sendable {
    /// Who counts.
    package enum Count: Hashable, Sendable {
        /// The meter's own clock, which goes on from frame to frame.
        case meter
        /// Nobody: it begins anew with each frame, and says only how far apart the samples in it are.
        case frame
    }

    package var oldest: UInt16
    package var newest: UInt16
    /// Milliseconds from one sample to the next where none is missing; 1 or more.
    package var step: UInt16
    /// Number of samples in the frame; 1 or more.
    package var count: Int
    package var countedBy: Count

    package init(oldest: UInt16, newest: UInt16, step: UInt16, count: Int, countedBy: Count = .meter) {
        self.oldest = oldest
        self.newest = newest
        self.step = step
        self.count = count
        self.countedBy = countedBy
    }
}
