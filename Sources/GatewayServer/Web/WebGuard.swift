import Domain
package import Gateway
import GatewayAPI
package import Hummingbird
import ServerKit

/// Tells a person's request from one that another site's page made in the person's browser.
///
/// A browser says in `Origin` and `Sec-Fetch-Site` which page is asking, and no page can change that. Other programs
/// send neither, and cannot be misused by a page. No response but a profile's has a CORS header (`ProfilerPath`), so a
/// foreign page could not read one anyway; this keeps it from making requests at all.
package struct WebGuard: Sendable {
    private let names: WebNames?

    /// - Parameter names: nil where any name will do, because no page can make a browser connect.
    package init(names: WebNames?) { self.names = names }

    /// - Parameters:
    ///   - isFile: whether it requests one of the page's files, which hold nothing private, so that links from
    ///     elsewhere may lead there.
    ///   - viewer: the origin of the one foreign page that may read the answer, if any.
    ///   - localAddress: this machine's address at which the connection arrived.
    package func check(
        _ head: HTTPRequest, isFile: Bool, viewer: String? = nil, localAddress: String?
    ) throws(GatewayError) {
        guard let path = head.path, path.hasPrefix("/") else {
            throw GatewayError(.badRequest, "the request names no path", next: "ask for http://localhost:8642/")
        }
        // The first is the authority. Whatever stands in front of meterd may go by another.
        guard head.headerFields.value(of: "host") == nil else {
            throw GatewayError(.badRequest, "the request has two Host headers", next: "send one")
        }
        guard names?.admits(authority: head.authority, localAddress: localAddress) ?? true else {
            throw GatewayError(
                .permission, "\(Self.shown(head.authority)) is not a name of this host",
                next: "ask by its address, or add the name to [web] names in meterd.toml")
        }
        guard !isFile else { return }
        if let viewer, !Self.isChange(head), head.headerFields.value(of: "origin") == viewer { return }
        guard isOwn(head) else {
            throw GatewayError(
                .permission, "another site's page asks for \(path.prefix(200))",
                next: "only meterd's own page may; see Docs/Web.md")
        }
    }

    /// What becomes of a request over plain HTTP at a listener that has TLS. This machine's own pass.
    ///
    /// The page leads to https. Everything else is refused: a redirect would hide that the token crossed the network
    /// in plain text, and the next request would carry it again.
    ///
    /// - Parameters:
    ///   - head: of a request that passed `check`, so that its authority is this host.
    ///   - client: its address.
    /// - Returns: the URL to send a browser to; nil if the request passes.
    package static func redirect(
        of head: HTTPRequest, isFile: Bool, from client: String?
    ) throws(GatewayError) -> String? {
        if let client, IPAddress.isLoopback(client) { return nil }
        let origin = "https://\(head.authority ?? "")"
        guard isFile else {
            throw GatewayError(
                .permission, "this host takes https alone, and what was sent crossed the network in plain text",
                next: "ask for \(origin); if the token was sent, meterctl web enable makes a new one")
        }
        return origin + (head.path ?? "/")
    }

    /// Whether the request changes something rather than only reading.
    static func isChange(_ head: HTTPRequest) -> Bool { head.method != .get && head.method != .head }

    private func isOwn(_ head: HTTPRequest) -> Bool {
        // `none` means typed into the address bar, which at most reads.
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
    /// The first field with a name, given in lower case.
    func value(of name: String) -> String? { first { $0.name.canonicalName == name }?.value }
}
