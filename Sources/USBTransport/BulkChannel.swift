import Domain
import Glibc
import LinuxIO

/// A channel over a USB device's bulk endpoints, from opening to closing.
///
/// ```
///   ┌─────────┐   ┌──────┐  lost, stalled   ┌────────┐  told   ┌────────┐
///   │ OPENING │──▶│ OPEN │─────────────────▶│ FAILED │────────▶│ CLOSED │
///   └─────────┘   └──────┘                  └────────┘         └────────┘
/// ```
///
/// "told" means that the handler was called. `close` leads from each state to CLOSED; from OPEN through LINGERING while
/// there is a backlog. A write is complete once the kernel has returned its USB transfer.
final class BulkChannel: ByteChannel, @unchecked Sendable {
    // Unchecked: created on any thread, then used only on the loop (see `ByteChannel`), which every function checks.

    typealias Handler = @Sendable (ChannelEvent) -> Void

    private let name: String
    private let loop: IOLoop
    private let stallLimit: Duration
    private let farewellLimit: Duration
    private var state: State
    private var queue = WriteQueue(.packets)
    private var isSending = false
    private var stallTimer: LoopTimer?
    private var halts = 0

    private enum State {
        case opening(Handler)
        case open(any BulkPort, Handler)
        /// `close` was called. The backlog is still sent; received bytes are discarded. `untilSent`: the channel closes
        /// as soon as the backlog is sent, otherwise when the timer fires.
        case lingering(any BulkPort, LoopTimer, untilSent: Bool)
        case failed(Handler)
        case closed
    }

    /// Maximum number of consecutive endpoint halts. One rejected request causes fewer.
    private static let haltsMax = 3
    /// Maximum number of USB transfers per turn of the loop, which other meters share.
    private static let transfersPerTurn = 16

    /// Starts opening; see `ChannelOpener.open`.
    ///
    /// - Parameters:
    ///   - stallLimit: maximum duration for which the device may accept no data of a backlog.
    ///   - farewellLimit: maximum duration for which unsent data keeps a closed channel open.
    ///   - open: called on its own thread.
    static func open(
        _ name: String, on loop: IOLoop, stallLimit: Duration = .seconds(5),
        farewellLimit: Duration = .milliseconds(500), handle: @escaping Handler,
        _ open: @escaping @Sendable () throws(ChannelFailure) -> any BulkPort
    ) -> BulkChannel {
        let channel = BulkChannel(name, on: loop, stallLimit, farewellLimit, handle)
        loop.execute { channel.begin(open) }
        return channel
    }

    private init(
        _ name: String, on loop: IOLoop, _ stallLimit: Duration, _ farewellLimit: Duration, _ handle: @escaping Handler
    ) {
        self.name = name
        self.loop = loop
        self.stallLimit = stallLimit
        self.farewellLimit = farewellLimit
        state = .opening(handle)
    }

    func send(_ bytes: [UInt8]) {
        loop.checkIsolated()
        switch state {
        case .opening, .open: break
        case .lingering, .failed, .closed: return
        }
        for start in stride(from: 0, to: bytes.count, by: BulkNode.capacity) {
            guard queue.append(Array(bytes[start..<min(start + BulkNode.capacity, bytes.count)])) else {
                return fail(.stalled, "\(name) takes nothing: \(WriteQueue.capacity) bytes wait. \(Self.remedy)")
            }
        }
        sendNext()
    }

    func close() { close(after: .zero) }

    func close(after pause: Duration) {
        loop.checkIsolated()
        guard case .open(let port, _) = state else {
            if case .lingering = state { return }
            return shut()
        }
        let mustSend = isSending || !queue.isEmpty
        guard pause > .zero || mustSend else { return shut() }
        loop.hold()
        let timer = loop.schedule(at: loop.now + max(pause, mustSend ? farewellLimit : .zero)) { [self] in shut() }
        state = .lingering(port, timer, untilSent: pause <= .zero)
    }

    // MARK: Opening

    private func begin(_ open: @escaping @Sendable () throws(ChannelFailure) -> any BulkPort) {
        guard case .opening = state else { return }
        BackgroundThread.run { [self] in
            let result = Result { () throws(ChannelFailure) in try open() }
            loop.execute { self.opened(result) }
        }
    }

    private func opened(_ result: Result<any BulkPort, ChannelFailure>) {
        guard case .opening(let handle) = state else {
            if case .success(let port) = result { port.close() }
            return
        }
        switch result {
        case .success(let port):
            do {
                try loop.register(port.descriptor, .writable) { [self] in ready($0) }
            } catch {
                port.close()
                state = .closed
                return handle(.closed(ChannelFailure(.system, "Cannot wait for \(name): \(error).")))
            }
            state = .open(port, handle)
            handle(.opened)
            do throws(Errno) { try self.port?.receive() } catch { lose(error) }
            sendNext()
        case .failure(let failure):
            state = .closed
            handle(.closed(failure))
        }
    }

    // MARK: The link

    private var port: (any BulkPort)? {
        switch state {
        case .open(let port, _), .lingering(let port, _, _): port
        case .opening, .failed, .closed: nil
        }
    }

    private func ready(_ readiness: Readiness) {
        for _ in 0..<Self.transfersPerTurn {
            guard let port else { return }
            do throws(Errno) {
                guard let event = try port.take() else {
                    if readiness.isOver { lose(Errno(ENODEV)) }
                    return
                }
                try handle(event, from: port)
            } catch {
                return lose(error)
            }
        }
    }

    private func handle(_ event: BulkEvent, from port: any BulkPort) throws(Errno) {
        switch event {
        case .received(let bytes):
            halts = 0
            // Start the next USB transfer before calling the handler, so that the device can continue sending.
            try port.receive()
            guard !bytes.isEmpty, case .open(_, let handle) = state else { return }
            handle(.received(bytes))
        case .sent:
            halts = 0
            sent()
        case .failed(let isInput, let reason):
            guard reason.code == EPIPE, halts < Self.haltsMax else { throw reason }
            halts += 1
            try port.clearHalt(isInput: isInput)
            // Do not repeat a rejected request: that is its sender's decision.
            if isInput { try port.receive() } else { sent() }
        }
    }

    private func sent() {
        isSending = false
        if let stallTimer { loop.cancel(stallTimer) }
        stallTimer = nil
        sendNext()
        if case .lingering(_, _, untilSent: true) = state, !isSending { shut() }
    }

    private func sendNext() {
        guard let port, !isSending, !queue.isEmpty else { return }
        do throws(Errno) {
            let count = try queue.withNext { bytes throws(Errno) in
                try port.send(bytes)
                return bytes.count
            }
            queue.removeFirst(count)
            isSending = true
            stallTimer = loop.schedule(at: loop.now + stallLimit) { [self] in
                fail(.stalled, "\(name) has taken nothing for \(stallLimit). \(Self.remedy)")
            }
        } catch {
            lose(error)
        }
    }

    // MARK: Closing

    private static let remedy = "Unplug the meter and plug it in again."

    private func lose(_ reason: Errno) {
        switch reason.code {
        // Errors of a USB transfer whose device is being removed (Documentation/driver-api/usb/error-codes.rst).
        case ENODEV, ESHUTDOWN, ENOENT, EPROTO, EILSEQ, ETIME:
            fail(.lost, "\(name) is gone. It was unplugged, or switched off.")
        default: fail(.lost, "\(name) does not answer any more: \(reason). \(Self.remedy)")
        }
    }

    /// Closes immediately, but calls the handler in the loop's next turn, because `send` must not call back.
    private func fail(_ code: ChannelFailure.Code, _ message: String) {
        let handle: Handler
        switch state {
        case .opening(let handler), .open(_, let handler): handle = handler
        case .lingering: return shut()
        case .failed, .closed: return
        }
        shut()
        state = .failed(handle)
        loop.execute { [self] in
            guard case .failed = state else { return }
            state = .closed
            handle(.closed(ChannelFailure(code, message)))
        }
    }

    private func shut() {
        if let stallTimer { loop.cancel(stallTimer) }
        stallTimer = nil
        if let port {
            loop.unregister(port.descriptor)
            port.close()
        }
        if case .lingering(_, let timer, _) = state {
            loop.cancel(timer)
            loop.letGo()
        }
        queue = WriteQueue(.packets)
        isSending = false
        state = .closed
    }
}
