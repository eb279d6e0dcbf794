import CLinux

/// What a descriptor is ready for, or what to wait for on it.
package struct Readiness: OptionSet, Hashable, Sendable {
    /// The bits as used by epoll.
    package let rawValue: UInt32

    package init(rawValue: UInt32) { self.rawValue = rawValue }

    /// There are bytes to read, or the end.
    package static let readable = Readiness(rawValue: cl_epoll_in)
    /// Bytes can be written.
    package static let writable = Readiness(rawValue: cl_epoll_out)
    /// The other end is gone. Reported whether requested or not, at every turn of the loop.
    package static let hangup = Readiness(rawValue: cl_epoll_hup)
    /// The descriptor has an error. Reported whether requested or not.
    package static let failed = Readiness(rawValue: cl_epoll_err)

    /// `hangup` or `failed`. Written with the raw bits because this is evaluated for each packet, and a set literal
    /// costs a loop over its members in another module's code.
    package var isOver: Bool { rawValue & (cl_epoll_hup | cl_epoll_err) != 0 }
}
