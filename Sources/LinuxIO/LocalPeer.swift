import Glibc

/// Who is at the other end of a connection over loopback: the kernel lists each socket with its user.
package enum LocalPeer {
    /// An address and a port.
    package struct End: Hashable, Sendable {
        /// 4 or 16 bytes.
        package var address: [UInt8]
        package var port: Int

        package init(address: [UInt8], port: Int) {
            self.address = address
            self.port = port
        }

        /// As `/proc/net/tcp` has it: words in the machine's order, in hex.
        fileprivate func text(_ count: Int) -> String? {
            var bytes = address
            if count == 16, bytes.count == 4 { bytes = [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF] + bytes }
            if count == 4, bytes.count == 16 { bytes = Array(bytes.suffix(4)) }
            guard bytes.count == count, (0...65_535).contains(port) else { return nil }
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

    /// The user whose socket `client` is; nil where the kernel lists none, as for a connection from elsewhere.
    package static func user(of client: End, to server: End) -> UInt32? {
        for (path, count) in [("/proc/net/tcp", 4), ("/proc/net/tcp6", 16)] {
            guard let table = FileTree.contents(at: path, atMost: 4 << 20) else { continue }
            if let user = user(of: client, to: server, in: table, addressBytes: count) { return user }
        }
        return nil
    }

    /// Looks it up in the text of such a table.
    package static func user(of client: End, to server: End, in table: String, addressBytes: Int) -> UInt32? {
        guard let local = client.text(addressBytes), let remote = server.text(addressBytes) else { return nil }
        for line in table.utf8.split(separator: UInt8(ascii: "\n")) {
            let fields = line.split(separator: UInt8(ascii: " "), maxSplits: 8, omittingEmptySubsequences: true)
            guard fields.count > 7, fields[1].elementsEqual(local.utf8), fields[2].elementsEqual(remote.utf8) else {
                continue
            }
            return UInt32(Substring(fields[7]))
        }
        return nil
    }
}

/// Users and their groups, as the system knows them.
package enum UserGroups {
    /// The group of a file; nil where there is none.
    package static func group(ofFile path: String) -> UInt32? {
        var status = stat()
        return stat(path, &status) == 0 ? status.st_gid : nil
    }

    /// Whether a user belongs to a group, by name service.
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
