/// When the samples in a frame were taken, by the meter's own clock: a count of milliseconds that wraps at 65,536.
package struct SampleTicks: Hashable, Sendable {
    package var oldest: UInt16
    package var newest: UInt16
    /// Milliseconds from one sample to the next where none is missing; 1 or more.
    package var step: UInt16
    /// Number of samples in the frame; 1 or more.
    package var count: Int

    package init(oldest: UInt16, newest: UInt16, step: UInt16, count: Int) {
        self.oldest = oldest
        self.newest = newest
        self.step = step
        self.count = count
    }
}
