import Domain
import Hummingbird
import Logging
import NIOCore
import ServerKit
import Synchronization

/// How a browser reached the page, as far as a trusted proxy in front of meterd says.
struct WebForwarded: Hashable, Sendable {
    /// The path at which the browser sees the page, without a final slash. Empty without a proxy.
    var prefix = ""
    /// Whether the browser came by https.
    var isHTTPS = false
    /// Where the proxy saw the browser.
    var client: SocketAddress?

    /// The `Path` of the page's cookies.
    var cookiePath: String { prefix.isEmpty ? "/" : prefix }
}

/// The proxies in front of meterd that are believed.
final class WebProxies: Sendable {
    private let networks: [IPNetwork]
    private let logger: Logger
    private let wasPrefixRefused = Mutex(false)

    init(_ networks: [IPNetwork], logger: Logger) {
        self.networks = networks
        self.logger = logger
    }

    /// Reads the headers that a trusted proxy adds. From all other clients they are ignored.
    func forwarded(_ head: HTTPRequest, from address: String?) -> WebForwarded {
        guard let address, networks.contains(where: { $0.contains(address) }) else { return WebForwarded() }
        let fields = head.headerFields
        return WebForwarded(
            prefix: prefix(fields.values(of: "x-ingress-path")) ?? prefix(fields.values(of: "x-forwarded-prefix"))
                ?? "",
            isHTTPS: fields.values(of: "x-forwarded-proto").map { $0.lowercased() } == ["https"],
            client: client(fields.values(of: "x-forwarded-for")))
    }

    /// The proxy adds what it saw at the end. What stands before that may be made up.
    private func client(_ values: [String]) -> SocketAddress? {
        guard let last = values.last?.split(separator: ",").last else { return nil }
        // Anything else than an address is as good as none.
        return try? SocketAddress(ipAddress: last.filter { $0 != " " }, port: 0)
    }

    /// - Parameter values: more than one means that a client sent one of its own.
    private func prefix(_ values: [String]) -> String? {
        guard let first = values.first else { return nil }
        if values.count == 1, Self.isPrefix(first) { return first }
        let isFirst = wasPrefixRefused.withLock { was in
            defer { was = true }
            return !was
        }
        if isFirst {
            logger.warning(
                "a proxy's prefix is ignored: it is not a path such as /meters",
                metadata: ["prefix": "\(values.joined(separator: ", ").prefix(80).visible)"])
        }
        return nil
    }

    /// One or more segments of letters, digits and `._~-`, each after a slash.
    private static func isPrefix(_ text: String) -> Bool {
        let segments = text.split(separator: "/", omittingEmptySubsequences: false)
        return segments.count > 1 && segments[0].isEmpty
            && segments.dropFirst().allSatisfy { segment in
                !segment.isEmpty
                    && segment.utf8.allSatisfy {
                        switch $0 {
                        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"),
                            UInt8(ascii: "~"), UInt8(ascii: "-"):
                            true
                        default: false
                        }
                    }
            }
    }

    /// Whether a request says that a proxy passed it on. Then the kernel's word on the connection is about the proxy, and
    /// not about the person who asks. Believed from everybody, since it only takes rights away.
    static func isPassedOn(_ head: HTTPRequest) -> Bool {
        head.headerFields.contains { field in
            let name = field.name.canonicalName
            return name.hasPrefix("x-forwarded-") || ["forwarded", "via", "x-ingress-path", "x-real-ip"].contains(name)
        }
    }
}

extension HTTPFields {
    /// All fields with a name, given in lower case.
    fileprivate func values(of name: String) -> [String] { filter { $0.name.canonicalName == name }.map(\.value) }
}
