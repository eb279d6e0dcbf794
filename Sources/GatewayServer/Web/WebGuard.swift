import Domain
package import Gateway
import GatewayAPI
package import Hummingbird
import ServerKit

/// Rejects requests that another site's page makes in the person's browser.
///
/// A browser names the requesting page in `Origin` and `Sec-Fetch-Site`, which no page can forge. Other programs send
/// neither header, and no page can misuse them. Without CORS headers, which only profiles have (`ProfilerPath`),
/// foreign pages cannot read responses.
package struct WebGuard: Sendable {
    private let names: WebNames?

    /// - Parameter names: allowed host names. Nil allows any name, for a listener to which no page can direct a
    ///   browser.
    package init(names: WebNames?) { self.names = names }

    /// - Parameters:
    ///   - isFile: whether the request is for a file of the page. Files are public, so that other sites may link to
    ///     them.
    ///   - viewer: origin of the only foreign page that may read the response.
    ///   - localAddress: this machine's address at which the connection arrived.
    package func check(
        _ head: HTTPRequest, isFile: Bool, viewer: String? = nil, localAddress: String?
    ) throws(GatewayError) {
        guard let path = head.path, path.hasPrefix("/") else {
            throw GatewayError(.badRequest, "the request names no path", next: "ask for http://localhost:8642/")
        }
        // `authority` contains the first `Host`. Reject a second one, which a server in front of meterd might use.
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

    /// Decides about a plain HTTP request at a listener with TLS. Requests from this machine pass.
    ///
    /// Files are redirected to https; all other requests are refused, because a redirect would hide that the access
    /// token crossed the network in plain text.
    ///
    /// - Parameter head: has passed `check`, so that its authority is this host.
    /// - Returns: the URL for a redirect; nil if the request passes.
    package static func redirect(
        of head: HTTPRequest, isFile: Bool, from client: String?
    ) throws(GatewayError) -> String? {
        if let client, IPAddress.isLoopback(client) { return nil }
        let origin = "https://\(head.authority ?? "")"
        guard isFile else {
            throw GatewayError(
                .permission, "this host takes https alone, and the request crossed the network in plain text",
                next: "ask for \(origin); if the token was sent, meterctl web enable makes a new one")
        }
        return origin + (head.path ?? "/")
    }

    static func isChange(_ head: HTTPRequest) -> Bool { head.method != .get && head.method != .head }

    private func isOwn(_ head: HTTPRequest) -> Bool {
        // `none` means that the URL was typed into the address bar. Accept it only for GET and HEAD.
        if let site = head.headerFields.value(of: "sec-fetch-site"), site != "same-origin" {
            guard site == "none", !Self.isChange(head) else { return false }
        }
        guard let origin = head.headerFields.value(of: "origin") else { return true }
        guard let authority = head.authority?.lowercased() else { return false }
        // https occurs if a server in front of meterd uses TLS.
        return ["http://\(authority)", "https://\(authority)"].contains(origin.lowercased())
    }

    private static func shown(_ authority: String?) -> String {
        guard let authority else { return "a request without Host" }
        return "\"\(authority.prefix(80).visible)\""
    }
}

extension HTTPFields {
    /// - Parameter name: in lower case.
    func value(of name: String) -> String? { first { $0.name.canonicalName == name }?.value }
}
