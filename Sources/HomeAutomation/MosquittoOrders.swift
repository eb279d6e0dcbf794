import Domain
import Glibc
import LinuxIO
import Synchronization

/// Orders (publish, subscribe, close) from other threads to an attempt's thread. Adding one never blocks. Unlimited,
/// because the sender limits its messages in flight.
final class MosquittoOrders: Sendable {
    enum Order: Sendable {
        case publish([NumberedMessage])
        case subscribe([String])
        case close
    }

    private let orders = Mutex<[Order]>([])
    /// Reading end of the socket pair. A byte in it means a waiting order.
    private let input: FileDescriptor
    private let output: FileDescriptor

    init() throws(Errno) {
        var ends: [Int32] = [-1, -1]
        let kind = SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue
        try Errno.check { socketpair(AF_UNIX, Int32(kind), 0, &ends) }
        input = FileDescriptor(owning: ends[0])
        output = FileDescriptor(owning: ends[1])
    }

    func add(_ order: Order) {
        let isFirst = orders.withLock { orders in
            orders.append(order)
            return orders.count == 1
        }
        guard isFirst else { return }
        // Ignore an error: if the socket is full, its earlier bytes wake the thread.
        _ = try? withUnsafeBytes(of: UInt8(1)) { byte throws(Errno) -> Int? in try output.write(byte) }
    }

    func take() -> [Order] {
        orders.withLock { orders in
            defer { orders = [] }
            return orders
        }
    }

    /// - Parameter wantsToWrite: whether the wait also ends when the socket accepts data.
    func wait(beside socket: Int32, wantsToWrite: Bool, milliseconds: Int32) {
        let events = wantsToWrite ? POLLIN | POLLOUT : POLLIN
        var states = [
            pollfd(fd: input.raw, events: Int16(POLLIN), revents: 0),
            pollfd(fd: socket, events: Int16(events), revents: 0),
        ]
        _ = poll(&states, nfds_t(states.count), milliseconds)
        guard states[0].revents != 0 else { return }
        var buffer = [UInt8](repeating: 0, count: 64)
        _ = try? buffer.withUnsafeMutableBytes { buffer throws(Errno) -> Int? in try input.read(into: buffer) }
    }
}
