import Glibc

package enum KernelLog {
    /// Returns the last megabytes of the kernel log; nil without permission. If dmesg_restrict is set, /dev/kmsg
    /// requires CAP_SYSLOG (Linux kernel/printk/printk.c, `check_syslog_permissions`). The journal's copy requires the
    /// group adm or systemd-journal (journalctl(1)).
    ///
    /// - Parameter root: prefix of the path, for tests; disables the journal.
    package static func read(root: String = "") -> String? {
        records(at: "\(root)/dev/kmsg") ?? (root.isEmpty ? journal : nil)
    }

    private static let bytesMax = 4 << 20

    /// Parses records `priority,number,time,flags;text`, one per read(2) (Documentation/ABI/testing/dev-kmsg).
    private static func records(at path: String) -> String? {
        guard let file = try? FileDescriptor(opening: path, O_RDONLY | O_NONBLOCK) else {
            return nil
        }
        var all: [UInt8] = []
        var record = [UInt8](repeating: 0, count: 8192)
        while all.count < bytesMax {
            do throws(Errno) {
                let count = try Self.read(file, into: &record)
                guard let count, count > 0 else { break }
                all += record[..<count]
            } catch {
                // EPIPE: the record was overwritten before it was read. The oldest remaining record follows.
                guard error.code == EPIPE else { return all.isEmpty ? nil : String(decoding: all, as: UTF8.self) }
            }
        }
        return String(decoding: all, as: UTF8.self)
    }

    private static func read(_ file: FileDescriptor, into bytes: inout [UInt8]) throws(Errno) -> Int? {
        let result: Result<Int?, Errno> = bytes.withUnsafeMutableBytes { buffer in
            Result { () throws(Errno) in try file.read(into: buffer) }
        }
        return try result.get()
    }

    /// The journal's copy of the kernel log; nil if empty. The kernel always logs at boot, so an empty copy means a
    /// lack of permission.
    private static var journal: String? {
        guard let pipe = popen("journalctl --dmesg --quiet --no-pager --output=cat 2>/dev/null", "r") else {
            return nil
        }
        defer { pclose(pipe) }
        var all: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 64 * 1024)
        while all.count < bytesMax {
            let count = fread(&chunk, 1, chunk.count, pipe)
            guard count > 0 else { break }
            all += chunk[..<count]
        }
        return all.isEmpty ? nil : String(decoding: all, as: UTF8.self)
    }
}
