package import Domain

/// A channel over a descriptor, from opening to closing.
///
/// ```
///   ┌─────────┐   ┌────────────┐   ┌──────┐  hung up, error, stalled   ┌────────┐  told   ┌────────┐
///   │ OPENING │──▶│ CONNECTING │──▶│ OPEN │───────────────────────────▶│ FAILED │────────▶│ CLOSED │
///   └─────────┘   └────────────┘   └──────┘                            └────────┘         └────────┘
///        │              │  too much to write, no connection in time         ▲
///        └──────────────┴───────────────────────────────────────────────────┘
/// ```
///
/// "told" means that the handler was called. Without a connect, OPENING leads directly to OPEN. `close` leads from each
/// state to CLOSED, from OPEN possibly through LINGERING, which sends the backlog. A link that cannot be opened is
/// CLOSED immediately.
package final class DescriptorChannel: ByteChannel, @unchecked Sendable {
    // Unchecked: created on any thread, then used only on the loop (see `ByteChannel`). Every entry point checks this.

    private let link: any DescriptorLink
    private let loop: IOLoop
    private let stallLimit: Duration
    private let readBuffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 4096, alignment: 16)
    private var state: State
    private var queue: WriteQueue
    private var stallTimer: LoopTimer?
    private var gapTimer: LoopTimer?
    private var awaitsRoom = false
    /// Whether a thread writes or is about to. The descriptor remains open while this is true.
    private var isWriting = false

    private enum State {
        case opening(Handler)
        case connecting(any LinkEndpoint, LoopTimer, Handler)
        case open(any LinkEndpoint, Handler)
        /// Closed by the caller. The backlog is still sent; received bytes are discarded.
        case lingering(any LinkEndpoint, LoopTimer)
        case failed(Handler)
        case closed
    }

    package typealias Handler = @Sendable (ChannelEvent) -> Void

    /// See `ChannelOpener.open`. Callable on any thread.
    ///
    /// - Parameter stallLimit: longest time that the link may accept no byte of a backlog.
    package static func open(
        _ link: any DescriptorLink, on loop: IOLoop, stallLimit: Duration = .seconds(5), handle: @escaping Handler
    ) -> DescriptorChannel {
        let channel = DescriptorChannel(link, on: loop, stallLimit: stallLimit, handle)
        loop.execute { channel.begin() }
        return channel
    }

    private init(_ link: any DescriptorLink, on loop: IOLoop, stallLimit: Duration, _ handle: @escaping Handler) {
        self.link = link
        self.loop = loop
        self.stallLimit = stallLimit
        queue = WriteQueue(link.framing, gap: link.writeGap)
        state = .opening(handle)
    }

    deinit { readBuffer.deallocate() }

    package func send(_ bytes: [UInt8]) {
        loop.checkIsolated()
        switch state {
        case .opening, .connecting, .open: break
        case .lingering, .failed, .closed: return
        }
        guard queue.append(bytes) else {
            let message = "\(link.name) takes no bytes: \(WriteQueue.capacity) wait. \(link.remedy)"
            fail(ChannelFailure(.stalled, message))
            return
        }
        if stallTimer == nil { writeQueue() }
    }

    package func close() {
        loop.checkIsolated()
        if case .lingering = state { return }
        if case .open(let end, _) = state { drain(end) }
        shut()
    }

    package func close(after pause: Duration) {
        loop.checkIsolated()
        guard pause > .zero, case .open(let end, _) = state else { return close() }
        loop.hold()
        let timer = loop.schedule(at: loop.now + pause) { [self] in
            drain(end)
            shut()
        }
        state = .lingering(end, timer)
    }

    // MARK: Opening

    /// Opens the link on its own thread, so as not to delay other meters: a failing device may block for seconds, and a
    /// connect may wait for a kernel lock.
    private func begin() {
        guard case .opening = state else { return }
        BackgroundThread.run { [self] in
            let result = Result { () throws(ChannelFailure) in try link.open() }
            loop.execute { self.opened(result) }
        }
    }

    private func opened(_ result: Result<OpenedLink, ChannelFailure>) {
        guard case .opening(let handle) = state else {
            if case .success(.open(let end)) = result { end.close(discardingOutput: true) }
            if case .success(.connecting(let end, _)) = result { end.close(discardingOutput: true) }
            return
        }
        switch result {
        case .success(.open(let end)):
            guard register(end, .readable, handle) else { return }
            become(open: end, handle)
        case .success(.connecting(let end, let limit)):
            guard register(end, .writable, handle) else { return }
            let timer = loop.schedule(at: loop.now + limit) { [self] in connected(Errno.timedOut) }
            state = .connecting(end, timer, handle)
        case .failure(let failure):
            state = .closed
            handle(.closed(failure))
        }
    }

    private func register(_ end: any LinkEndpoint, _ interest: Readiness, _ handle: Handler) -> Bool {
        do {
            try loop.register(end.descriptor, interest) { [self] in ready($0) }
            return true
        } catch {
            end.close(discardingOutput: true)
            state = .closed
            handle(.closed(ChannelFailure(.system, "Cannot wait for \(link.name): \(error).")))
            return false
        }
    }

    private func connected(_ reason: Errno?) {
        guard case .connecting(let end, let timer, let handle) = state else { return }
        loop.cancel(timer)
        do throws(Errno) {
            if let reason { throw reason }
            try loop.modify(end.descriptor, .readable)
        } catch {
            shut()
            handle(.closed(link.failure(connecting: error)))
            return
        }
        become(open: end, handle)
    }

    private func become(open end: any LinkEndpoint, _ handle: @escaping Handler) {
        state = .open(end, handle)
        handle(.opened)
        writeQueue()
    }

    // MARK: The link

    private var usableEnd: (any LinkEndpoint)? {
        switch state {
        case .open(let end, _), .lingering(let end, _): end
        case .opening, .connecting, .failed, .closed: nil
        }
    }

    private func ready(_ readiness: Readiness) {
        if case .connecting(let end, _, _) = state {
            do {
                try end.descriptor.takePendingError()
                if readiness.contains(.writable) { connected(nil) }
            } catch {
                connected(error)
            }
            return
        }
        if readiness.isOver || readiness.contains(.readable) { read(hasHungUp: readiness.isOver) }
        if readiness.contains(.writable) { writeQueue() }
    }

    /// Reads up to eight packets, or one buffer of a stream. The loop then serves other descriptors first.
    private func read(hasHungUp: Bool) {
        // A UM meter's block arrives in seven packets at once. Waking the loop for each would cost more.
        for _ in 0..<(link.framing == .packets ? 8 : 1) {
            let (descriptor, handle): (FileDescriptor, Handler?)
            switch state {
            case .open(let end, let handler): (descriptor, handle) = (end.descriptor, handler)
            case .lingering(let end, _): (descriptor, handle) = (end.descriptor, nil)
            case .opening, .connecting, .failed, .closed: return
            }
            do {
                guard let count = try descriptor.read(into: readBuffer) else {
                    if hasHungUp { lose(nil) }
                    return
                }
                guard count > 0 else { return lose(nil) }
                handle?(.received([UInt8](UnsafeRawBufferPointer(rebasing: readBuffer[..<count]))))
            } catch {
                return lose(error)
            }
        }
    }

    private func writeQueue() {
        guard let end = usableEnd, !isWriting, !queue.isEmpty, gapTimer == nil else { return }
        if let pause = queue.pause(at: loop.now) {
            gapTimer = loop.schedule(at: pause) { [self] in
                gapTimer = nil
                writeQueue()
            }
            return
        }
        if link.writesBlock { return writeElsewhere(end) }
        do {
            var hasMoved = false
            while !queue.isEmpty {
                guard let taken = try queue.withNext({ bytes throws(Errno) in try end.descriptor.write(bytes) }) else {
                    break
                }
                hasMoved = true
                queue.removeFirst(taken)
            }
            try awaitRoom(end, hasMoved: hasMoved)
        } catch {
            lose(error)
        }
    }

    private func writeElsewhere(_ end: any LinkEndpoint) {
        isWriting = true
        if stallTimer == nil { startStallTimer() }
        let queue = queue
        BackgroundThread.run { [self] in
            let result = Result { () throws(Errno) in
                try queue.withNext { bytes throws(Errno) in try end.descriptor.write(bytes) }
            }
            loop.execute { self.wrote(result, to: end) }
        }
    }

    private func wrote(_ result: Result<Int?, Errno>, to end: any LinkEndpoint) {
        isWriting = false
        queue.wrote(at: loop.now)
        guard usableEnd != nil else {
            end.close(discardingOutput: true)
            return
        }
        do {
            let taken = try result.get()
            if let taken { queue.removeFirst(taken) }
            try awaitRoom(end, hasMoved: taken != nil)
            if taken != nil { writeQueue() }
        } catch {
            lose(error)
        }
    }

    private func awaitRoom(_ end: any LinkEndpoint, hasMoved: Bool) throws(Errno) {
        if hasMoved || queue.isEmpty { stopStallTimer() }
        if !queue.isEmpty, stallTimer == nil { startStallTimer() }
        // After a blocking write, `wrote` continues, so wait for room only if that write accepted no bytes.
        let needsRoom = !queue.isEmpty && !(link.writesBlock && hasMoved)
        guard needsRoom != awaitsRoom else { return }
        awaitsRoom = needsRoom
        try loop.modify(end.descriptor, needsRoom ? [.readable, .writable] : .readable)
    }

    private func startStallTimer() {
        stallTimer = loop.schedule(at: loop.now + stallLimit) { [self] in
            fail(ChannelFailure(.stalled, "\(link.name) has taken no byte for \(stallLimit). \(link.remedy)"))
        }
    }

    private func stopStallTimer() {
        if let stallTimer { loop.cancel(stallTimer) }
        stallTimer = nil
    }

    // MARK: Closing

    private func lose(_ reason: Errno?) { fail(link.failure(losing: reason)) }

    /// Closes immediately, but calls the handler in the loop's next turn, because `send` must not call it.
    private func fail(_ failure: ChannelFailure) {
        let handle: Handler
        switch state {
        case .opening(let handler), .connecting(_, _, let handler), .open(_, let handler): handle = handler
        case .lingering: return shut()
        case .failed, .closed: return
        }
        shut()
        state = .failed(handle)
        loop.execute { [self] in
            guard case .failed = state else { return }
            state = .closed
            handle(.closed(failure))
        }
    }

    private func shut() {
        stopStallTimer()
        if let gapTimer { loop.cancel(gapTimer) }
        gapTimer = nil
        if let end = usableEnd {
            loop.unregister(end.descriptor)
            // If another thread is writing, `wrote` closes the descriptor: otherwise another file might reuse its
            // number.
            if !isWriting { end.close(discardingOutput: !queue.isEmpty) }
        }
        switch state {
        case .connecting(let end, let timer, _):
            loop.cancel(timer)
            loop.unregister(end.descriptor)
            end.close(discardingOutput: true)
        case .lingering(_, let timer):
            loop.cancel(timer)
            loop.letGo()
        case .open, .opening, .failed, .closed: break
        }
        queue = WriteQueue(link.framing)
        state = .closed
    }

    /// Discards pending bytes, because some meters hang if their last packets are not fetched
    /// (Docs/Protocols/FNIRSI.md#commands). Bounded, because a meter may send faster than this reads. The kernel
    /// buffers 64 packets of a raw HID device.
    private func drain(_ end: any LinkEndpoint) {
        for _ in 0..<(link.framing == .packets ? 64 : 16) {
            guard let count = try? end.descriptor.read(into: readBuffer), count > 0 else { return }
        }
    }
}
