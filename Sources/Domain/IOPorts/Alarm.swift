/// Timer that wakes its owner at a time, or earlier if that time was postponed. The owner must then check the time and
/// set the alarm again.
package struct Alarm {
    private let loop: any SessionLoop
    private var pending: (timer: LoopTimer, time: MonotonicTime)?

    package init(on loop: any SessionLoop) { self.loop = loop }

    /// Nil cancels the alarm. A pending earlier time is kept, so the alarm may ring early.
    ///
    /// - Parameter ring: called on the loop; the owner must then call `rang`.
    package mutating func set(to due: MonotonicTime?, _ ring: @escaping @Sendable () -> Void) {
        guard let due else { return cancel() }
        if let pending, pending.time <= due { return }
        cancel()
        pending = (loop.schedule(at: due, ring), due)
    }

    package mutating func cancel() {
        if let pending { loop.cancel(pending.timer) }
        pending = nil
    }

    package mutating func rang() { pending = nil }
}
