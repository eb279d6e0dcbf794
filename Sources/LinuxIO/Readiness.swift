import CLinux

/// State of a descriptor, or the events to wait for.
package struct Readiness: OptionSet, Hashable, Sendable {
    /// Bits as defined by epoll.
    package let rawValue: UInt32

    package init(rawValue: UInt32) { self.rawValue = rawValue }

    package static let readable = Readiness(rawValue: cl_epoll_in)
    package static let writable = Readiness(rawValue: cl_epoll_out)
    /// Reported in every turn of the loop after the other end has closed, even if not requested.
    package static let hangup = Readiness(rawValue: cl_epoll_hup)
    package static let failed = Readiness(rawValue: cl_epoll_err)

    /// Whether the descriptor has hung up or failed. Uses raw bits because this runs for each packet, and a set literal
    /// would cost a loop.
    package var isOver: Bool { rawValue & (cl_epoll_hup | cl_epoll_err) != 0 }
}
