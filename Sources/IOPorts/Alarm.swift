package import MeterModel

/// Wakes its owner at the next moment at which anything is due.
///
/// It may ring too early, when what was due first is due no more: its owner looks at the time, and sets it anew.
package struct Alarm {
    private let loop: any SessionLoop
    private var pending: (timer: LoopTimer, time: MonotonicTime)?

    package init(on loop: any SessionLoop) { self.loop = loop }

    /// Rings at `due` or sooner; never where nothing is due. A moment later than the one it is set to leaves it as it is.
    ///
    /// - Parameter ring: called on the loop; has its owner say `rang`.
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
