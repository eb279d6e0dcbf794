import Glibc

/// A POSIX extended regular expression (regcomp, regexec), for one thread at a time.
package final class ExtendedExpression {
    package struct Problem: Error, Hashable {
        package var message: String
    }

    private static let lineMax = 4096

    private var expression = regex_t()

    /// - Throws: if the expression is invalid or has no group.
    package init(_ pattern: String) throws(Problem) {
        // Use UTF-8: in the default locale, characters are bytes, so a group might end inside a character.
        setlocale(LC_CTYPE, "C.UTF-8")
        let code = regcomp(&expression, pattern, REG_EXTENDED)
        guard code == 0 else {
            var text = [CChar](repeating: 0, count: 256)
            let length = regerror(code, &expression, &text, text.count)
            throw Problem(
                message: String(decoding: text.prefix(max(0, length - 1)).map { UInt8(bitPattern: $0) }, as: UTF8.self))
        }
        isCompiled = true
        guard expression.re_nsub > 0 else { throw Problem(message: "it has no group in parentheses") }
    }

    private var isCompiled = false

    deinit { if isCompiled { regfree(&expression) } }

    /// Returns the first group's text; nil without a match, or if the group took no part in it.
    package func firstGroup(in line: String) -> String? {
        let bytes = Array(line.utf8.prefix(Self.lineMax).prefix { $0 != 0 })
        var places = [regmatch_t](repeating: regmatch_t(), count: 2)
        let code = (bytes + [0]).withUnsafeBufferPointer { text in
            text.withMemoryRebound(to: CChar.self) { regexec(&expression, $0.baseAddress, places.count, &places, 0) }
        }
        guard code == 0, places[1].rm_so >= 0 else { return nil }
        return String(decoding: bytes[Int(places[1].rm_so)..<Int(places[1].rm_eo)], as: UTF8.self)
    }
}
