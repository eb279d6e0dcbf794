package import Domain
import Glibc

extension ProcessFigures {
    /// Nil without `/proc`.
    package static var current: ProcessFigures? {
        guard let stat = FileTree.text(at: "/proc/self/stat", bytesMax: 4096) else { return nil }
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return nil }
        return ProcessFigures(
            stat: stat, bootSeconds: bootSeconds, ticksPerSecond: sysconf(Int32(_SC_CLK_TCK)),
            pageBytes: sysconf(Int32(_SC_PAGESIZE)), openDescriptors: FileTree.names(in: "/proc/self/fd").count,
            descriptorsMax: UInt64(limit.rlim_cur))
    }

    /// Boot time in seconds since 1970. Changes only when the system clock is set.
    private static var bootSeconds: Double? {
        FileTree.text(at: "/proc/stat", bytesMax: 1 << 16)?.split(separator: "\n")
            .first { $0.hasPrefix("btime ") }.flatMap { Double($0.dropFirst(6)) }
    }
}
