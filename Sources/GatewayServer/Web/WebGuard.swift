package import Gateway
import GatewayAPI
package import Hummingbird
import MeterModel

/// Tells a request that a person made from one that somebody else's page made in the person's browser.
///
/// A browser says in `Origin` and `Sec-Fetch-Site` which page asks, and no page can make it say something else. What is
/// no browser sends neither, and cannot be misused by a page. No answer ever carries a CORS header, so what a foreign
/// page could ask for it could not read; this keeps it from asking at all.
package struct WebGuard: Sendable {
    private let names: WebNames

    package init(names: WebNames) { self.names = names }

    /// - Parameters:
    ///   - isFile: it asks for a file of the page, which holds nothing that is anybody's, so that links from elsewhere
    ///     may lead there.
    ///   - localAddress: the address of this machine that the connection came to.
    package func check(_ head: HTTPRequest, isFile: Bool, localAddress: String?) throws(GatewayError) {
        guard let path = head.path, path.hasPrefix("/") else {
            throw GatewayError(.badRequest, "the request names no path", next: "ask for http://localhost:8642/")
        }
        guard names.admits(authority: head.authority, localAddress: localAddress) else {
            throw GatewayError(
                .permission, "\(Self.shown(head.authority)) is not a name of this host",
                next: "ask by its address, or add the name to [web] names in meterd.toml")
        }
        guard !isFile else { return }
        guard isOwn(head) else {
            throw GatewayError(
                .permission, "another site's page asks for \(path.prefix(200))",
                next: "only meterd's own page may; see Docs/Web.md")
        }
    }

    /// Whether it changes something, and not only looks.
    package static func isChange(_ head: HTTPRequest) -> Bool { head.method != .get && head.method != .head }

    private func isOwn(_ head: HTTPRequest) -> Bool {
        // `none`: typed into the address bar, which is looking at most.
        if let site = head.headerFields.value(of: "sec-fetch-site"), site != "same-origin" {
            guard site == "none", !Self.isChange(head) else { return false }
        }
        guard let origin = head.headerFields.value(of: "origin") else { return true }
        guard let authority = head.authority?.lowercased() else { return false }
        // https: something in front of meterd that speaks TLS.
        return ["http://\(authority)", "https://\(authority)"].contains(origin.lowercased())
    }

    private static func shown(_ authority: String?) -> String {
        guard let authority else { return "a request without Host" }
        return "\"\(authority.prefix(80).visible)\""
    }
}

extension HTTPFields {
    /// The first field of a name, given in lower case.
    func value(of name: String) -> String? { first { $0.name.canonicalName == name }?.value }
}
