import Glibc
import LinuxIO
import MeterTestKit
import Synchronization

@testable import USBTransport

/// Two bulk endpoints without a device. Its descriptor is writable while something is done, as usbfs's is: a socket whose
/// buffer is full otherwise.
final class FakeBulkPort: BulkPort, @unchecked Sendable {
    // Unchecked: everything that changes is behind the lock.
    let descriptor: FileDescriptor
    private let state = Mutex(State())
    private let (closing, closer) = AsyncStream.makeStream(of: Never.self)

    struct State {
        var done: [BulkEvent] = []
        var isReceiving = false
        /// What came while nobody asked for it: a device waits with it.
        var held: [[UInt8]] = []
        var sent: [[UInt8]] = []
        /// Sending is done at once.
        var takes = true
        var cleared: [Bool] = []
        var gone: Errno?
        var isClosed = false
    }

    private let reader: FileDescriptor

    init() throws {
        (descriptor, reader) = try packetSocketPair()
        setWritable(false)
    }

    // MARK: The device

    var sent: [[UInt8]] { state.withLock { $0.sent } }
    var cleared: [Bool] { state.withLock { $0.cleared } }
    var isClosed: Bool { state.withLock { $0.isClosed } }

    /// Returns once the host has let go of it.
    func closed() async { for await _ in closing {} }

    func say(_ bytes: [UInt8]) {
        state.withLock { state in
            guard state.isReceiving else { return state.held.append(bytes) }
            state.isReceiving = false
            finish(.received(bytes), &state)
        }
    }

    func fail(isInput: Bool, _ reason: Errno) {
        state.withLock { state in
            if isInput { state.isReceiving = false }
            finish(.failed(isInput: isInput, reason), &state)
        }
    }

    /// Whether it takes what is sent to it; what waits is taken then.
    func takes(_ takes: Bool) {
        state.withLock { state in
            state.takes = takes
            if takes, !state.sent.isEmpty { finish(.sent, &state) }
        }
    }

    func go() {
        state.withLock { state in
            state.gone = Errno(ENODEV)
            setWritable(true)
        }
    }

    // MARK: The port

    func receive() throws(Errno) {
        try state.withLock { state throws(Errno) in
            if let gone = state.gone { throw gone }
            guard state.held.isEmpty else { return finish(.received(state.held.removeFirst()), &state) }
            state.isReceiving = true
        }
    }

    func send(_ bytes: UnsafeRawBufferPointer) throws(Errno) {
        let copy = [UInt8](bytes)
        try state.withLock { state throws(Errno) in
            if let gone = state.gone { throw gone }
            state.sent.append(copy)
            if state.takes { finish(.sent, &state) }
        }
    }

    func take() throws(Errno) -> BulkEvent? {
        try state.withLock { state throws(Errno) in
            guard state.done.isEmpty else {
                let event = state.done.removeFirst()
                if state.done.isEmpty, state.gone == nil { setWritable(false) }
                return event
            }
            if let gone = state.gone { throw gone }
            return nil
        }
    }

    func clearHalt(isInput: Bool) throws(Errno) { state.withLock { $0.cleared.append(isInput) } }

    func close() {
        state.withLock { $0.isClosed = true }
        descriptor.close()
        closer.finish()
    }

    private func finish(_ event: BulkEvent, _ state: inout State) {
        state.done.append(event)
        setWritable(true)
    }

    private func setWritable(_ isWritable: Bool) {
        var bytes = [UInt8](repeating: 0, count: 4096)
        bytes.withUnsafeMutableBytes { bytes in
            // Until nothing is left, or no room: both are nil, or 0 once it is closed.
            if isWritable {
                while let count = try? reader.read(into: bytes), count > 0 {}
            } else {
                while let count = try? descriptor.write(UnsafeRawBufferPointer(bytes)), count > 0 {}
            }
        }
    }
}
