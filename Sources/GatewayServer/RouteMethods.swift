import Hummingbird

/// The methods of each path, to tell a wrong method from a path that does not exist.
struct RouteMethods: Sendable {
    private struct Entry {
        /// A part that begins with `:` matches any one.
        var template: [String]
        var method: HTTPRequest.Method
    }

    private let entries: [Entry]

    init<Context>(of router: Router<Context>) {
        entries = router.routes.map { route in
            // The library's form of what was declared as `:meter`.
            let parts = "\(route.path)".split(separator: "/").map { $0.hasPrefix("{") ? ":" : String($0) }
            return Entry(template: parts, method: route.method)
        }
    }

    /// Sorted by name; empty for a path without a route.
    func methods(of path: String) -> [String] {
        let parts = path.split(separator: "/")
        let found = entries.filter { entry in
            entry.template.count == parts.count
                && zip(entry.template, parts).allSatisfy { $0.hasPrefix(":") || $0 == $1 }
        }
        return found.map(\.method.rawValue).sorted()
    }
}
