import ArgumentParser
import CloudServer
import ServerKit

/// An address to listen at: `ADDRESS:PORT`, `[IPV6]:PORT`, `:PORT` or `PORT`.
struct ServeAddress: ExpressibleByArgument, Hashable {
    var host: String
    var port: Int

    static let everywhere = ServeAddress(host: "0.0.0.0", port: 8643)

    init(host: String, port: Int) {
        self.host = host
        self.port = port
    }

    init?(argument: String) {
        let colon = argument.lastIndex(of: ":")
        let portText = colon.map { argument[argument.index(after: $0)...] } ?? argument[...]
        guard let port = Int(portText), (0...65_535).contains(port),
            portText.utf8.allSatisfy({ $0 != UInt8(ascii: "+") })
        else { return nil }
        var host = colon.map { String(argument[..<$0]) } ?? ""
        if host.hasPrefix("["), host.hasSuffix("]") {
            host = String(host.dropFirst().dropLast())
            guard let bytes = IPAddress.bytes(of: host), bytes.count == 16 else { return nil }
        } else if host.contains(":") {
            return nil
        }
        self.init(host: host.isEmpty ? Self.everywhere.host : host, port: port)
    }

    var isLoopback: Bool { IPAddress.isLoopback(host) }
    var isAny: Bool { IPAddress.isAny(host) }

    var description: String { IPAddress.authority(host, port) }
    var defaultValueDescription: String { description }
}
