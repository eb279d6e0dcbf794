import CLinux

/// What a descriptor is ready for, or what somebody waits for on it.
package struct Readiness: OptionSet, Hashable, Sendable {
    /// The bits as epoll has them.
    package let rawValue: UInt32

    package init(rawValue: UInt32) { self.rawValue = rawValue }

    /// Bytes are there, or the end.
    package static let readable = Readiness(rawValue: cl_epoll_in)
    /// Bytes can be written.
    package static let writable = Readiness(rawValue: cl_epoll_out)
    /// The other end is gone. Reported whether asked for or not, as often as the loop turns.
    package static let hangup = Readiness(rawValue: cl_epoll_hup)
    /// The descriptor has an error. Reported whether asked for or not.
    package static let failed = Readiness(rawValue: cl_epoll_err)

    /// `hangup` or `failed`. A set that is written out costs a loop over its members in another module's code, and this
    /// is asked for each packet.
    package var isOver: Bool { rawValue & (cl_epoll_hup | cl_epoll_err) != 0 }
}
