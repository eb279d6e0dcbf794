package import Domain
import Glibc

/// The kernel's route for a packet, found without sending one: connecting a datagram socket selects a route and a
/// source address.
package enum NetworkRoute {
    /// Returns the path to a numeric address, in the calling thread's network namespace.
    package static func path(to address: String) -> NetworkPath {
        guard let source = sourceAddress(towards: address), let name = interface(with: source) else { return .lost }
        return NetworkPath(isSatisfied: true, interface: name, kind: kind(of: name))
    }

    package static func isNumeric(_ host: String) -> Bool { !numericAddresses(of: host, AI_NUMERICHOST).isEmpty }

    /// Returns numeric addresses. May wait for the network for many seconds: never call it on the loop.
    package static func resolve(_ name: String) -> [String] { numericAddresses(of: name, 0) }

    /// Reads the interface's kind from sysfs, which shows the network namespace in which it was mounted.
    package static func kind(of interface: String, sysfs: String = "/sys/class/net") -> NetworkPath.InterfaceKind {
        let names = Set(FileTree.names(in: "\(sysfs)/\(interface)"))
        if names.contains("wireless") || names.contains("phy80211") { return .wifi }
        // Type 1 is Ethernet. A bridge or tunnel has no device.
        return names.contains("device") && FileTree.text(at: "\(sysfs)/\(interface)/type") == "1" ? .wired : .other
    }

    private static func sourceAddress(towards address: String) -> [UInt8]? {
        withAddresses(of: address, AI_NUMERICHOST) { target in
            let number = Glibc.socket(target.ai_family, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
            guard number >= 0 else { return nil }
            let socket = FileDescriptor(owning: number)
            defer { socket.close() }
            guard connect(socket.raw, target.ai_addr, target.ai_addrlen) == 0 else { return nil }
            var source = sockaddr_storage()
            var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
            return withUnsafeMutablePointer(to: &source) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    getsockname(socket.raw, $0, &length) == 0 ? addressBytes(of: $0) : nil
                }
            }
        }
    }

    private static func interface(with address: [UInt8]) -> String? {
        let upFlags = UInt32(IFF_UP) | UInt32(IFF_RUNNING)
        var list: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&list) == 0 else { return nil }
        defer { freeifaddrs(list) }
        var next = list
        while let entry = next?.pointee {
            next = entry.ifa_next
            guard entry.ifa_flags & upFlags == upFlags, let own = entry.ifa_addr, addressBytes(of: own) == address
            else { continue }
            return String(cString: entry.ifa_name)
        }
        return nil
    }

    private static func addressBytes(of address: UnsafePointer<sockaddr>) -> [UInt8]? {
        let raw = UnsafeRawPointer(address)
        switch Int32(address.pointee.sa_family) {
        case AF_INET: return withUnsafeBytes(of: raw.loadUnaligned(as: sockaddr_in.self).sin_addr) { Array($0) }
        case AF_INET6: return withUnsafeBytes(of: raw.loadUnaligned(as: sockaddr_in6.self).sin6_addr) { Array($0) }
        default: return nil
        }
    }

    private static func numericAddresses(of host: String, _ flags: Int32) -> [String] {
        var found: [String] = []
        let _: Never? = withAddresses(of: host, flags) { target in
            var text = [CChar](repeating: 0, count: 64)
            if getnameinfo(target.ai_addr, target.ai_addrlen, &text, 64, nil, 0, NI_NUMERICHOST) == 0 {
                found.append(String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self))
            }
            return nil
        }
        return found
    }

    private static func withAddresses<Result>(
        of host: String, _ flags: Int32, _ body: (addrinfo) -> Result?
    ) -> Result? {
        var hints = addrinfo()
        hints.ai_flags = flags
        hints.ai_socktype = Int32(SOCK_DGRAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        // Port 9 is "discard"; nothing is sent there.
        guard getaddrinfo(host, "9", &hints, &list) == 0 else { return nil }
        defer { freeaddrinfo(list) }
        var next = list
        while let target = next?.pointee {
            next = target.ai_next
            if let result = body(target) { return result }
        }
        return nil
    }
}
