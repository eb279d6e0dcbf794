import Domain
import Gateway
import GatewayAPI
package import Hummingbird

/// Routes of one topic, which add themselves below `/v1`.
package protocol RouteGroup: Sendable {
    func add(to api: RouterGroup<BasicRequestContext>)
}

extension HTTPFields {
    /// Makes browsers save the answer under this name; replaces illegal characters.
    mutating func saveAs(_ name: String) {
        let safe = String(name.map { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == ".") ? $0 : "-" })
        self[.contentDisposition] = "attachment; filename=\"\(safe)\""
    }
}

extension Request {
    /// Returns a number in the query; nil if absent.
    ///
    /// - Throws: 400 unless the value is a whole number within `range`.
    func number(_ name: String, in range: ClosedRange<Int>) throws -> Int? {
        guard let text = uri.queryParameters[name[...]] else { return nil }
        guard let number = Int(text), range.contains(number) else {
            throw HTTPError(
                .badRequest,
                message: "\(name) cannot be \"\(text)\"; it takes \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    /// Returns a flag in the query; false if absent.
    ///
    /// - Throws: 400 for values other than `true` and `false`.
    func flag(_ name: String) throws -> Bool {
        guard let text = uri.queryParameters[name[...]] else { return false }
        guard let flag = Bool(String(text)) else {
            throw HTTPError(.badRequest, message: "\(name) cannot be \"\(text)\"; it takes true or false")
        }
        return flag
    }

    /// Returns a choice in the query; nil if absent.
    ///
    /// - Throws: 400 for a value that is not in `Choice`.
    func choice<Choice: RawRepresentable<String> & CaseIterable>(_ name: String) throws(GatewayError) -> Choice? {
        guard let text = uri.queryParameters[name[...]].map(String.init) else { return nil }
        guard let choice = Choice(rawValue: text) else {
            let words = Choice.allCases.map(\.rawValue)
            throw GatewayError(
                .badRequest, "\(name) cannot be \"\(text.visible)\"",
                next: "it takes \(words.dropLast().joined(separator: ", ")) or \(words.last ?? "")")
        }
        return choice
    }

    /// Returns a time in the query, RFC 3339 or milliseconds since 1970; nil if absent.
    func time(_ name: String) throws -> WallTime? {
        guard let text = uri.queryParameters[name[...]] else { return nil }
        if let time = WallTime(String(text)) { return time }
        guard let number = Int64(text) else {
            throw GatewayError(
                .badRequest, "\(name) cannot be \"\(text)\"",
                next: "it takes a time such as 2026-11-21T13:40:05Z, or milliseconds since 1970")
        }
        return WallTime(millisecondsSince1970: number)
    }

    /// Returns the time span in the query. Defaults: `to` is now, `from` is an hour before `to`.
    func span(until now: WallTime) throws -> Range<WallTime> {
        let end = try time("to") ?? now
        return try .stretch(from: try time("from") ?? end + .seconds(-3600), to: end)
    }
}

extension Range<WallTime> {
    /// - Throws: 400 unless `start` is before `end`.
    static func stretch(from start: WallTime, to end: WallTime) throws -> Self {
        guard start < end else {
            throw GatewayError(
                .badRequest, "from \(start) to \(end) is not a stretch of time", next: "from comes before to")
        }
        return start..<end
    }
}

/// The client of the present request. On the control socket, it may do everything.
///
/// A class, because optimised programs of Swift 6.3.1 crash when a task-local value is set to a function.
final class Asker: Sendable {
    @TaskLocal static var current = Asker { true }
    private let isAllowed: @Sendable () -> Bool

    init(mayDisturb: @escaping @Sendable () -> Bool) { isAllowed = mayDisturb }

    /// Whether the client may start actions that stop measuring, such as downloading a meter's logs. Checked at each
    /// call.
    var mayDisturb: Bool { isAllowed() }
}
