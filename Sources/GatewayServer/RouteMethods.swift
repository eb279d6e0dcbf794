import Hummingbird

/// Which methods each path takes, so that a wrong one is told from a path that there is not.
struct RouteMethods: Sendable {
    private struct Entry {
        /// A part that begins with `:` stands for any one.
        var template: [String]
        var method: HTTPRequest.Method
    }

    private let entries: [Entry]

    init<Context>(of router: Router<Context>) {
        entries = router.routes.map { route in
            // As the library writes what was declared as `:meter`.
            let parts = "\(route.path)".split(separator: "/").map { $0.hasPrefix("{") ? ":" : String($0) }
            return Entry(template: parts, method: route.method)
        }
    }

    /// In the order of their names; empty for a path that no route has.
    func methods(of path: String) -> [String] {
        let parts = path.split(separator: "/")
        let found = entries.filter { entry in
            entry.template.count == parts.count
                && zip(entry.template, parts).allSatisfy { $0.hasPrefix(":") || $0 == $1 }
        }
        return found.map(\.method.rawValue).sorted()
    }
}
