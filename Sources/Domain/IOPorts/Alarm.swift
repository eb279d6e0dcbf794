/// Wakes its owner at the next due moment, or earlier if that moment has moved: the owner checks the time and sets it
/// again.
package struct Alarm {
    private let loop: any SessionLoop
    private var pending: (timer: LoopTimer, time: MonotonicTime)?

    package init(on loop: any SessionLoop) { self.loop = loop }

    /// Rings at `due` or earlier, never if it is nil. A moment later than the pending one changes nothing.
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
