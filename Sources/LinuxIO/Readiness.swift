import CLinux

/// State of a descriptor, or the interest in it.
package struct Readiness: OptionSet, Hashable, Sendable {
    /// Bits of epoll.
    package let rawValue: UInt32

    package init(rawValue: UInt32) { self.rawValue = rawValue }

    package static let readable = Readiness(rawValue: cl_epoll_in)
    package static let writable = Readiness(rawValue: cl_epoll_out)
    /// The other end is gone. Always reported, at every turn of the loop.
    package static let hangup = Readiness(rawValue: cl_epoll_hup)
    package static let failed = Readiness(rawValue: cl_epoll_err)

    /// Whether it is `hangup` or `failed`. Uses raw bits because it runs for each packet: a set literal costs a loop
    /// over its members in another module's code.
    package var isOver: Bool { rawValue & (cl_epoll_hup | cl_epoll_err) != 0 }
}
