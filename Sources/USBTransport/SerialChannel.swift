import Gateway
import LinuxIO
import MeterModel

/// One serial port, from before it is open until it is closed.
///
/// ```
///   ┌─────────┐  begin   ┌──────┐  hung up, error, stalled   ┌────────┐  told   ┌────────┐
///   │ OPENING │─────────▶│ OPEN │───────────────────────────▶│ FAILED │────────▶│ CLOSED │
///   └─────────┘          └──────┘                            └────────┘         └────────┘
///        │ too much to write                                      ▲
///        └────────────────────────────────────────────────────────┘
/// ```
///
/// `close` leads from each state to CLOSED, and so does a port that cannot be opened.
final class SerialChannel: ByteChannel, @unchecked Sendable {
    // Unchecked: made on any thread, then only used on the loop (see `ByteChannel`), which every entry checks.

    private let path: String
    private let baudRate: Int
    private let loop: IOLoop
    private let stallLimit: Duration
    private let readBuffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 4096, alignment: 16)
    private var state: State
    private var queue = WriteQueue()
    /// Runs while bytes wait to be written.
    private var stallTimer: LoopTimer?

    private enum State {
        case opening(Handler)
        case open(SerialLine, Handler)
        /// The line is closed, and the caller is about to hear of it.
        case failed(Handler)
        case closed
    }

    private typealias Handler = @Sendable (ChannelEvent) -> Void

    init(
        path: String, baudRate: Int, loop: IOLoop, stallLimit: Duration,
        _ handle: @escaping @Sendable (ChannelEvent) -> Void
    ) {
        self.path = path
        self.baudRate = baudRate
        self.loop = loop
        self.stallLimit = stallLimit
        state = .opening(handle)
    }

    deinit { readBuffer.deallocate() }

    /// Opens the port and says how that went.
    ///
    /// Opening and setting up a USB port are transfers that a dying device may hold up for seconds, so they happen on a
    /// thread of their own and not on the loop, where other meters wait.
    func begin() {
        guard case .opening = state else { return }
        BackgroundThread.run { [self] in
            let result = Result { try SerialLine(opening: path, baudRate: baudRate) }
            loop.execute { self.opened(result) }
        }
    }

    private func opened(_ result: Result<SerialLine, any Error>) {
        guard case .opening(let handle) = state else {
            // Closed meanwhile.
            if case .success(let line) = result { line.close(discardingOutput: true) }
            return
        }
        do {
            let line = try result.get()
            do {
                try loop.register(line.descriptor, .readable) { [self] in ready($0) }
            } catch {
                line.close(discardingOutput: true)
                throw ChannelFailure(.system, "Cannot wait for \(path): \(error).")
            }
            state = .open(line, handle)
        } catch {
            state = .closed
            handle(.closed(error as? ChannelFailure ?? ChannelFailure(.system, "Cannot open \(path): \(error).")))
            return
        }
        handle(.opened)
        writeQueue()
    }

    func send(_ bytes: [UInt8]) {
        loop.checkIsolated()
        switch state {
        case .opening, .open: break
        case .failed, .closed: return
        }
        guard queue.append(bytes) else {
            fail(
                ChannelFailure(
                    .stalled, "\(path) takes no bytes: \(WriteQueue.capacity) wait. Unplug the meter and plug it in."))
            return
        }
        if stallTimer == nil { writeQueue() }
    }

    func close() {
        loop.checkIsolated()
        if case .open(let line, _) = state { drain(line) }
        shut()
    }

    // MARK: The line

    private func ready(_ readiness: Readiness) {
        if !readiness.isDisjoint(with: [.readable, .hangup, .failed]) {
            read(hasHungUp: !readiness.isDisjoint(with: [.hangup, .failed]))
        }
        if readiness.contains(.writable) { writeQueue() }
    }

    /// Takes one buffer full. What is left makes the line ready again at the next turn, after other lines had theirs.
    private func read(hasHungUp: Bool) {
        guard case .open(let line, let handle) = state else { return }
        do {
            guard let count = try line.descriptor.read(into: readBuffer) else {
                if hasHungUp { lose(line, because: "it hung up") }
                return
            }
            guard count > 0 else { return lose(line, because: "it hung up") }
            handle(.received([UInt8](UnsafeRawBufferPointer(rebasing: readBuffer[..<count]))))
        } catch {
            lose(line, because: error.description)
        }
    }

    private func writeQueue() {
        guard case .open(let line, _) = state, !queue.isEmpty else { return }
        do {
            var hasMoved = false
            while !queue.isEmpty {
                guard let taken = try queue.withNext({ bytes throws(Errno) in try line.descriptor.write(bytes) }) else {
                    break
                }
                hasMoved = true
                queue.removeFirst(taken)
            }
            try awaitRoom(line, hasMoved: hasMoved)
        } catch {
            lose(line, because: error.description)
        }
    }

    /// Waits for the line to take more, or no longer, and keeps the stall timer accordingly.
    private func awaitRoom(_ line: SerialLine, hasMoved: Bool) throws(Errno) {
        if queue.isEmpty {
            guard let timer = stallTimer else { return }
            loop.cancel(timer)
            stallTimer = nil
            try loop.modify(line.descriptor, .readable)
        } else if stallTimer == nil || hasMoved {
            if let stallTimer {
                loop.cancel(stallTimer)
            } else {
                try loop.modify(line.descriptor, [.readable, .writable])
            }
            stallTimer = loop.schedule(at: loop.now + stallLimit) { [self] in
                let message = "\(path) has taken no byte for \(stallLimit). Unplug the meter and plug it in again."
                fail(ChannelFailure(.stalled, message))
            }
        }
    }

    // MARK: The end

    private func lose(_ line: SerialLine, because reason: String) {
        fail(ChannelFailure(.lost, "\(line.path) is gone: \(reason). Is the meter still plugged in and switched on?"))
    }

    /// Closes at once and says so at the loop's next turn: `send`, which may have found out, must not call back.
    private func fail(_ failure: ChannelFailure) {
        let handle: Handler
        switch state {
        case .opening(let handler), .open(_, let handler): handle = handler
        case .failed, .closed: return
        }
        shut()
        state = .failed(handle)
        loop.execute { [self] in
            // The caller may have closed meanwhile, and then hears nothing more.
            guard case .failed = state else { return }
            state = .closed
            handle(.closed(failure))
        }
    }

    private func shut() {
        if let stallTimer { loop.cancel(stallTimer) }
        stallTimer = nil
        if case .open(let line, _) = state {
            loop.unregister(line.descriptor)
            line.close(discardingOutput: !queue.isEmpty)
        }
        queue = WriteQueue()
        state = .closed
    }

    /// Reads away what has come: some meters hang when their last packets are not fetched (protocols.md 3.4). Bounded,
    /// as a meter may push faster than this reads.
    private func drain(_ line: SerialLine) {
        for _ in 0..<16 {
            // An error means the same as nothing left: the line is closed next.
            guard let count = try? line.descriptor.read(into: readBuffer), count > 0 else { return }
        }
    }
}
