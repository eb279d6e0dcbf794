/// Sampling times of a frame, in milliseconds that wrap at 65,536.
package struct SampleTicks: Hashable, Sendable {
    package enum Count: Hashable, Sendable {
        /// The meter's clock, which continues from frame to frame.
        case meter
        /// A clock that restarts with each frame, so only differences count.
        case frame
    }

    package var oldest: UInt16
    package var newest: UInt16
    /// Milliseconds between samples; 1 or more.
    package var step: UInt16
    /// Number of samples; 1 or more.
    package var count: Int
    package var countedBy: Count
    /// Number of the meter's samples known to be missing although the ticks do not show it.
    package var lost: Int

    package init(
        oldest: UInt16, newest: UInt16, step: UInt16, count: Int, countedBy: Count = .meter, lost: Int = 0
    ) {
        self.oldest = oldest
        self.newest = newest
        self.step = step
        self.count = count
        self.countedBy = countedBy
        self.lost = lost
    }
}
