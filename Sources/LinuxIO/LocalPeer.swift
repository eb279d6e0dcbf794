import Glibc

/// Finds the user of a loopback connection in the kernel's list of sockets.
package enum LocalPeer {
    package struct End: Hashable, Sendable {
        /// Address of 4 or 16 bytes.
        package var address: [UInt8]
        package var port: Int

        package init(address: [UInt8], port: Int) {
            self.address = address
            self.port = port
        }

        private static let mappedPrefix: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF]

        /// Address of 16 bytes; IPv4 in the form of dual-stack sockets (`::ffff:…`). Nil for a wrong length.
        var mapped: [UInt8]? {
            switch address.count {
            case 4: Self.mappedPrefix + address
            case 16: address
            default: nil
            }
        }

        /// Address of 4 bytes for any form of IPv4, otherwise of 16. Nil for a wrong length.
        var plain: [UInt8]? {
            mapped.map { $0.starts(with: Self.mappedPrefix) ? Array($0.suffix(4)) : $0 }
        }

        /// Returns address and port as in `/proc/net/tcp`: hexadecimal words in the machine's byte order.
        fileprivate func text(_ count: Int) -> String? {
            let bytes = count == 4 ? plain : mapped
            guard let bytes, bytes.count == count, (0...65_535).contains(port) else { return nil }
            var text = ""
            for start in stride(from: 0, to: count, by: 4) {
                let word = bytes[start..<(start + 4)].withUnsafeBytes { $0.loadUnaligned(as: UInt32.self) }
                text += Self.hex(word, 8)
            }
            return "\(text):\(Self.hex(UInt32(port), 4))"
        }

        private static func hex(_ value: UInt32, _ width: Int) -> String {
            let digits = String(value, radix: 16, uppercase: true)
            return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
        }
    }

    package struct Socket: Hashable, Sendable {
        package var user: UInt32
        /// Unique among open sockets. Never 0.
        package var inode: UInt32

        package init(user: UInt32, inode: UInt32) {
            self.user = user
            self.inode = inode
        }
    }

    /// Returns the socket `client` if a program holds it open and it can send and receive. Otherwise the kernel lists
    /// it with user 0, and this returns nil. Also nil for a connection from another machine, or without an answer of
    /// the kernel.
    package static func socket(of client: End, to server: End) -> Socket? {
        if case .known(let socket) = SocketDiagnosis.ask(for: client, to: server) { return socket }
        for (path, count) in [("/proc/net/tcp", 4), ("/proc/net/tcp6", 16)] {
            guard let table = FileTree.contents(at: path, atMost: 4 << 20) else { continue }
            if let socket = socket(of: client, to: server, in: table, addressBytes: count) { return socket }
        }
        return nil
    }

    /// Parses `/proc/net/tcp` or `tcp6`. Columns: number, both ends, state, queues, timers, retransmissions, user,
    /// timeouts, inode (the kernel's Documentation/networking/proc_net_tcp.rst).
    package static func socket(
        of client: End, to server: End, in table: String, addressBytes: Int
    ) -> Socket? {
        guard let local = client.text(addressBytes), let remote = server.text(addressBytes) else { return nil }
        for line in table.utf8.split(separator: UInt8(ascii: "\n")) {
            let fields = line.split(separator: UInt8(ascii: " "), maxSplits: 10, omittingEmptySubsequences: true)
            guard fields.count > 9, fields[1].elementsEqual(local.utf8), fields[2].elementsEqual(remote.utf8),
                fields[3].elementsEqual("01".utf8), let user = UInt32(Substring(fields[7])),
                let inode = UInt32(Substring(fields[9])), inode != 0
            else { continue }
            return Socket(user: user, inode: inode)
        }
        return nil
    }
}

package enum UserGroups {
    package static func group(ofFile path: String) -> UInt32? {
        var status = stat()
        return stat(path, &status) == 0 ? status.st_gid : nil
    }

    package static func isMember(_ user: UInt32, of group: UInt32) -> Bool {
        var entry = passwd()
        var buffer = [CChar](repeating: 0, count: 16_384)
        var found: UnsafeMutablePointer<passwd>?
        guard getpwuid_r(user, &entry, &buffer, buffer.count, &found) == 0, found != nil else { return false }
        var groups = [gid_t](repeating: 0, count: 1024)
        var count = Int32(groups.count)
        guard getgrouplist(entry.pw_name, entry.pw_gid, &groups, &count) >= 0 else { return false }
        return groups.prefix(Int(count)).contains(group)
    }
}
