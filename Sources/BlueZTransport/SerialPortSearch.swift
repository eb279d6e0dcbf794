import Domain
import Gateway
import Glibc
import LinuxIO

/// SDP search on its own thread, because libbluetooth blocks.
final class SerialPortSearch: @unchecked Sendable {
    // `@unchecked Sendable`: used only on the event loop, except for the socket end that the thread owns.

    /// This object's end of the socket pair. Closing it cancels the search, because the thread's end becomes readable.
    private var ownEnd: FileDescriptor?

    /// - Parameter done: called once on the event loop, even after `cancel`; with nil if the meter names no serial
    ///   port.
    init(
        _ link: RadioLink, sockets: any RadioSockets, limit: Duration, on loop: IOLoop,
        done: @escaping @Sendable (Result<UInt8?, Errno>) -> Void
    ) {
        var numbers: [Int32] = [-1, -1]
        do throws(Errno) {
            let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
            try Errno.check { socketpair(AF_UNIX, type, 0, &numbers) }
        } catch {
            loop.execute { done(.failure(error)) }
            return
        }
        ownEnd = FileDescriptor(owning: numbers[0])
        let otherEnd = FileDescriptor(owning: numbers[1])
        BackgroundThread.run {
            let result = Result { () throws(Errno) in
                try sockets.findSerialPort(link, limit: limit, cancel: otherEnd)
            }
            otherEnd.close()
            loop.execute { done(result) }
        }
    }

    func cancel() {
        ownEnd?.close()
        ownEnd = nil
    }
}
