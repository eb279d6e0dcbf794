import Hummingbird

/// Methods of all routes, to distinguish a wrong method from an unknown path.
struct RouteMethods: Sendable {
    private struct Entry {
        /// Segments of a path. One that begins with `:` matches any text.
        var template: [String]
        var method: HTTPRequest.Method
    }

    private let entries: [Entry]

    init<Context>(of router: Router<Context>) {
        entries = router.routes.map { route in
            // Hummingbird's form of `:meter` is `{meter}`.
            let parts = "\(route.path)".split(separator: "/").map { $0.hasPrefix("{") ? ":" : String($0) }
            return Entry(template: parts, method: route.method)
        }
    }

    /// Returns the sorted methods; empty for a path without a route.
    func methods(of path: String) -> [String] {
        let parts = path.split(separator: "/")
        let found = entries.filter { entry in
            entry.template.count == parts.count
                && zip(entry.template, parts).allSatisfy { $0.hasPrefix(":") || $0 == $1 }
        }
        return found.map(\.method.rawValue).sorted()
    }
}
