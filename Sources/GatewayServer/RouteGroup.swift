package import Hummingbird

/// Routes about one topic, which add themselves below `/v1` on the control socket.
package protocol RouteGroup: Sendable {
    func add(to api: RouterGroup<BasicRequestContext>)
}

extension Request {
    /// A number in the query; nil without one.
    ///
    /// - Throws: 400 for anything else than a whole number within `range`.
    func number(_ name: String, in range: ClosedRange<Int>) throws -> Int? {
        guard let text = uri.queryParameters[name[...]] else { return nil }
        guard let number = Int(text), range.contains(number) else {
            throw HTTPError(
                .badRequest,
                message: "\(name) cannot be \"\(text)\"; it takes \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    /// Whether the query has `true` there; false without it.
    ///
    /// - Throws: 400 for anything else than `true` and `false`.
    func flag(_ name: String) throws -> Bool {
        guard let text = uri.queryParameters[name[...]] else { return false }
        guard let flag = Bool(String(text)) else {
            throw HTTPError(.badRequest, message: "\(name) cannot be \"\(text)\"; it takes true or false")
        }
        return flag
    }
}

/// Whose request is answered. On the control socket that is always somebody who may do everything.
///
/// A class: where the task-local value is a function, Swift 6.3.1's optimised programs crash as it is set.
final class Asker: Sendable {
    @TaskLocal static var current = Asker { true }
    private let isAllowed: @Sendable () -> Bool

    init(mayDisturb: @escaping @Sendable () -> Bool) { isAllowed = mayDisturb }

    /// Whether who asks may do what costs others something: not every onlooker of the web page may. Asked anew each time.
    var mayDisturb: Bool { isAllowed() }
}
