import Glibc

package enum PortHolder {
    package struct Program: Hashable, Sendable, CustomStringConvertible {
        /// Kernel's name of the process, at most 15 bytes (proc_pid_comm(5)).
        package var name: String
        package var process: Int

        package init(name: String, process: Int) {
            self.name = name
            self.process = process
        }

        package var description: String { "\(name), process \(process)" }
    }

    /// Returns the program that listens on a TCP port. Nil if there is none, or it belongs to another user: only root
    /// may see that user's open files.
    package static func program(listeningOn port: Int, processes: String = "/proc") -> Program? {
        var sockets: Set<String> = []
        for table in ["net/tcp", "net/tcp6"] {
            guard let text = FileTree.contents(at: "\(processes)/\(table)", atMost: 4 << 20) else { continue }
            sockets.formUnion(listeners(on: port, in: text).map { "socket:[\($0)]" })
        }
        guard !sockets.isEmpty else { return nil }
        for process in FileTree.names(in: processes).compactMap({ Int($0) }).sorted() {
            let files = "\(processes)/\(process)/fd"
            guard FileTree.names(in: files).contains(where: { holds(sockets, "\(files)/\($0)") }) else { continue }
            let name = FileTree.text(at: "\(processes)/\(process)/comm")
            return Program(name: name.flatMap { $0.isEmpty ? nil : $0 } ?? "?", process: process)
        }
        return nil
    }

    private static func holds(_ sockets: Set<String>, _ path: String) -> Bool {
        FileTree.linkTarget(path).map(sockets.contains) ?? false
    }

    /// Returns the inodes of sockets that listen on a port, from `/proc/net/tcp` or `tcp6`. Column 2 is address and
    /// port in hex, column 4 `0A` for LISTEN, column 10 the inode (the kernel's
    /// Documentation/networking/proc_net_tcp.rst).
    package static func listeners(on port: Int, in table: String) -> [UInt32] {
        table.utf8.split(separator: UInt8(ascii: "\n")).compactMap { line in
            let fields = line.split(separator: UInt8(ascii: " "), maxSplits: 10, omittingEmptySubsequences: true)
            guard fields.count > 9, fields[3].elementsEqual("0A".utf8),
                let colon = fields[1].lastIndex(of: UInt8(ascii: ":")),
                Int(Substring(fields[1][fields[1].index(after: colon)...]), radix: 16) == port,
                let inode = UInt32(Substring(fields[9])), inode != 0
            else { return nil }
            return inode
        }
    }
}
