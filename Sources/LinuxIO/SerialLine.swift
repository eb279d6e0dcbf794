import CLinux
package import Domain
import Glibc

/// A serial port, opened exclusively: 8 data bits, no parity, one stop bit, no flow control, raw bytes.
package struct SerialLine: LinkEndpoint {
    package let descriptor: FileDescriptor
    package let path: String
    /// TIOCEXCL is not set on a pseudo-terminal, because it would last after the slave is closed, until the master is
    /// closed too.
    private let isPseudoTerminal: Bool

    /// Opens without blocking, and discards the line's buffers.
    package init(opening path: String, baudRate: Int) throws(ChannelFailure) {
        self.path = path
        guard let speed = BaudRate.speed(baudRate) else {
            let known = BaudRate.all.map { String($0.bitsPerSecond) }.joined(separator: ", ")
            throw ChannelFailure(.system, "Cannot open \(path) at \(baudRate) baud; the rates are \(known).")
        }
        // Without O_NOCTTY, a meter's line could send signals to the daemon. A non-blocking open(2) does not wait for a
        // carrier.
        descriptor = try FileDescriptor(node: path, O_NOCTTY, isSerial: true)
        guard isatty(descriptor.raw) == 1 else {
            throw ChannelFailure(
                .system, "\(path) is not a serial port. Ports are /dev/ttyACM*, /dev/ttyUSB* and /dev/serial/by-id/*.")
        }
        isPseudoTerminal = cl_is_pty_slave(descriptor.raw) == 1
        try claim()
        do {
            try Self.makeRaw(descriptor, speed: speed)
            try Errno.check { tcflush(descriptor.raw, TCIOFLUSH) }
        } catch {
            throw ChannelFailure(.system, "Cannot set up \(path) as a serial port at \(baudRate) baud: \(error).")
        }
    }

    /// - Parameter discardingOutput: whether to discard unsent bytes, if the driver can. Otherwise the kernel may wait
    ///   up to 30 s for a stuck device (closing_wait), which would delay other meters.
    package func close(discardingOutput: Bool) {
        _ = tcflush(descriptor.raw, discardingOutput ? TCIOFLUSH : TCIFLUSH)
        if !isPseudoTerminal { _ = ioctl(descriptor.raw, UInt(TIOCNXCL)) }
        // Until exec, a child process that another thread is starting has copies of all descriptors, which would keep
        // the lock.
        _ = flock(descriptor.raw, LOCK_UN)
        if isPseudoTerminal { descriptor.close() } else { descriptor.closeElsewhere() }
    }

    /// Locks the port against other programs. TIOCEXCL makes their open(2) fail, except for root. flock(2) also stops
    /// root, and programs that check this lock.
    private func claim() throws(ChannelFailure) {
        let isTaken = cl_tty_is_exclusive(descriptor.raw) == 1
        do throws(Errno) {
            if isTaken { throw Errno(EBUSY) }
            try Errno.check { flock(descriptor.raw, LOCK_EX | LOCK_NB) }
            if !isPseudoTerminal { try Errno.check { ioctl(descriptor.raw, UInt(TIOCEXCL)) } }
        } catch {
            throw ChannelFailure(error, opening: path, isSerial: true)
        }
    }

    static func makeRaw(_ descriptor: FileDescriptor, speed: speed_t?) throws(Errno) {
        var settings = termios()
        try Errno.check { tcgetattr(descriptor.raw, &settings) }
        cfmakeraw(&settings)
        // Meters do not use the modem lines, and a missing carrier would end the link.
        settings.c_cflag |= tcflag_t(CLOCAL | CREAD)
        settings.c_cflag &= ~tcflag_t(CSTOPB)
        if let speed { try Errno.check { cfsetspeed(&settings, speed) } }
        try Errno.check { tcsetattr(descriptor.raw, TCSANOW, &settings) }
    }
}
