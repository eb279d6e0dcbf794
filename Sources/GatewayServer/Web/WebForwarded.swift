import Domain
import Hummingbird
import Logging
import NIOCore
import ServerKit
import Synchronization

/// Information that a trusted proxy sends about the browser.
struct WebForwarded: Hashable, Sendable {
    /// The page's path in the browser, without a final slash; empty without a proxy.
    var prefix = ""
    var isHTTPS = false
    var client: SocketAddress?

    var cookiePath: String { prefix.isEmpty ? "/" : prefix }
}

final class WebProxies: Sendable {
    private let networks: [IPNetwork]
    private let logger: Logger
    private let wasPrefixRefused = Mutex(false)

    init(_ networks: [IPNetwork], logger: Logger) {
        self.networks = networks
        self.logger = logger
    }

    /// Parses the proxy headers. Ignores them from clients that are not trusted proxies.
    func forwarded(_ head: HTTPRequest, from address: String?) -> WebForwarded {
        guard let address, networks.contains(where: { $0.contains(address) }) else { return WebForwarded() }
        let fields = head.headerFields
        return WebForwarded(
            prefix: prefix(fields.values(of: "x-ingress-path")) ?? prefix(fields.values(of: "x-forwarded-prefix"))
                ?? "",
            isHTTPS: fields.values(of: "x-forwarded-proto").map { $0.lowercased() } == ["https"],
            client: client(fields.values(of: "x-forwarded-for")))
    }

    /// Returns the last address in `X-Forwarded-For`, which the proxy appended. A client may have forged the others.
    private func client(_ values: [String]) -> SocketAddress? {
        guard let last = values.last?.split(separator: ",").last else { return nil }
        return try? SocketAddress(ipAddress: last.filter { $0 != " " }, port: 0)
    }

    /// Returns the path; nil unless the header occurs once, with a valid value. A client may have sent a second one.
    private func prefix(_ values: [String]) -> String? {
        guard let first = values.first else { return nil }
        if values.count == 1, Self.isPrefix(first) { return first }
        let isFirst = wasPrefixRefused.withLock { was in
            defer { was = true }
            return !was
        }
        if isFirst {
            logger.warning(
                "proxy prefix ignored: not a path such as /meters",
                metadata: ["prefix": "\(values.joined(separator: ", ").prefix(80).visible)"])
        }
        return nil
    }

    /// Accepts one or more segments of letters, digits and `._~-`, each after a slash.
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

    /// Returns whether a request claims to have passed a proxy, so that the kernel's data do not describe the person.
    /// Any client's claim is accepted, because it only reduces rights.
    static func isPassedOn(_ head: HTTPRequest) -> Bool {
        head.headerFields.contains { field in
            let name = field.name.canonicalName
            return name.hasPrefix("x-forwarded-") || ["forwarded", "via", "x-ingress-path", "x-real-ip"].contains(name)
        }
    }
}

extension HTTPFields {
    /// - Parameter name: in lower case.
    fileprivate func values(of name: String) -> [String] { filter { $0.name.canonicalName == name }.map(\.value) }
}
