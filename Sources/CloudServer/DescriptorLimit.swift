import Glibc

package enum DescriptorLimit {
    /// Raises the limit of open files to the hard limit, at most 1,048,576: the usual 1024 is too low for a thousand
    /// event streams.
    ///
    /// - Returns: the resulting limit, if the system reports it.
    package static func raise() -> UInt64? {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return nil }
        // More than any server of this project needs, but low enough for programs that loop over all descriptors.
        let wanted = min(limit.rlim_max, 1 << 20)
        guard limit.rlim_cur < wanted else { return UInt64(limit.rlim_cur) }
        let before = limit.rlim_cur
        limit.rlim_cur = wanted
        return UInt64(setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 ? wanted : before)
    }
}
