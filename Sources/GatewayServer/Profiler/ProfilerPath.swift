/// `/power/SECRET` or `/profile/SECRET` on the page's listener.
struct ProfilerPath: Hashable, Sendable {
    enum Kind: String, Sendable {
        /// Path for Firefox's own code: devtools/client/performance-new/shared/background.sys.mjs,
        /// `GET_EXTERNAL_POWER_TRACKS`. This code needs no CORS and sends no `Sec-Fetch-Site`, because it runs as the
        /// system principal (dom/security/nsContentSecurityManager.cpp, `DoCORSChecks`; SecFetch.cpp,
        /// `AddSecFetchHeader`).
        case power
        /// Path for the page profiler.firefox.com.
        case profile
    }

    let kind: Kind
    let secret: String

    init?(_ path: String) {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0].isEmpty, let kind = Kind(rawValue: String(parts[1])) else { return nil }
        self.kind = kind
        secret = String(parts[2])
    }

    init(_ kind: Kind, _ secret: String) { (self.kind, self.secret) = (kind, secret) }

    /// Origin of the only foreign page that may read the answer (firefox-devtools/profiler,
    /// docs-developer/loading-in-profiles.md, "URL").
    var viewer: String? { kind == .profile ? "https://profiler.firefox.com" : nil }

    var text: String { "/\(kind.rawValue)/\(secret)" }
}
