import Foundation

/// What Docs/openapi.yaml and Docs/meterd-openapi.yaml are made of.
package indirect enum YAML: Equatable {
    case scalar(String)
    case list([YAML])
    case map([String: YAML])

    package subscript(key: String) -> YAML? {
        guard case .map(let map) = self else { return nil }
        return map[key]
    }

    /// The node below several keys, one after the other.
    package subscript(path: [String]) -> YAML? {
        path.reduce(self as YAML?) { $0?[$1] }
    }

    package var text: String? {
        guard case .scalar(let text) = self else { return nil }
        return text
    }

    package var list: [YAML] {
        guard case .list(let list) = self else { return [] }
        return list
    }

    package var map: [String: YAML] {
        guard case .map(let map) = self else { return [:] }
        return map
    }
}

/// Reads the part of YAML in which those documents are written: block maps and lists, scalars that are plain, in single
/// quotes, folded (`>-`) or literal (`|-`, read as if folded), and one-line lists in brackets. Anything else is an error,
/// so that the document and this reader cannot come to mean different things.
package struct YAMLReader {
    package struct Failure: Error, CustomStringConvertible {
        package var description: String
    }

    private struct Line {
        var number: Int
        var indent: Int
        var text: Substring
    }

    private var lines: [Line] = []
    private var next = 0

    package static func read(_ text: String) throws -> YAML {
        var reader = YAMLReader()
        for (index, raw) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            let content = raw.drop { $0 == " " }
            guard !content.isEmpty, !content.hasPrefix("#") else { continue }
            reader.lines.append(Line(number: index + 1, indent: raw.count - content.count, text: content))
        }
        let root = try reader.block(indent: 0)
        guard reader.next == reader.lines.count else { throw reader.failure("is indented as nothing before it") }
        return root
    }

    private func failure(_ words: String) -> Failure {
        let line = lines[min(next, lines.count - 1)]
        return Failure(description: "line \(line.number) \(words): \(line.text)")
    }

    private mutating func block(indent: Int) throws -> YAML {
        guard next < lines.count, lines[next].indent == indent else { throw failure("is not where a block begins") }
        return lines[next].text.hasPrefix("- ") ? try blockList(indent: indent) : try blockMap(indent: indent)
    }

    private mutating func blockList(indent: Int) throws -> YAML {
        var items: [YAML] = []
        while next < lines.count, lines[next].indent == indent, lines[next].text.hasPrefix("- ") {
            let rest = lines[next].text.dropFirst(2)
            if try Self.key(in: rest) != nil {
                // The item is a map, whose first line stands behind the dash.
                lines[next].indent += 2
                lines[next].text = rest
                items.append(try blockMap(indent: indent + 2))
            } else {
                next += 1
                items.append(try Self.inline(rest))
            }
        }
        return .list(items)
    }

    private mutating func blockMap(indent: Int) throws -> YAML {
        var map: [String: YAML] = [:]
        while next < lines.count, lines[next].indent == indent, !lines[next].text.hasPrefix("- ") {
            guard let (key, rest) = try Self.key(in: lines[next].text) else { throw failure("has no key") }
            guard map[key] == nil else { throw failure("has a key for the second time") }
            next += 1
            switch rest {
            case "" where next < lines.count && lines[next].indent > indent:
                map[key] = try block(indent: lines[next].indent)
            case "": throw failure("follows a key without a value")
            case ">-", "|-": map[key] = folded(below: indent)
            default: map[key] = try Self.inline(rest)
            }
        }
        return .map(map)
    }

    private mutating func folded(below indent: Int) -> YAML {
        var words: [Substring] = []
        while next < lines.count, lines[next].indent > indent {
            words.append(lines[next].text)
            next += 1
        }
        return .scalar(words.joined(separator: " "))
    }

    /// `key: rest`, the key plain or in single quotes; nil for a line that is a scalar.
    private static func key(in text: Substring) throws -> (key: String, rest: Substring)? {
        if text.hasPrefix("'") {
            guard let end = text.dropFirst().firstIndex(of: "'") else { return nil }
            let after = text[text.index(after: end)...]
            guard after.hasPrefix(":") else { return nil }
            return (String(text[text.index(after: text.startIndex)..<end]), after.dropFirst().drop { $0 == " " })
        }
        if text.hasPrefix("[") || text.hasPrefix("{") { return nil }
        if text.hasSuffix(":"), !text.dropLast().contains(": ") { return (String(text.dropLast()), "") }
        guard let colon = text.firstRange(of: ": ") else { return nil }
        return (String(text[..<colon.lowerBound]), text[colon.upperBound...].drop { $0 == " " })
    }

    private static func inline(_ text: Substring) throws -> YAML {
        switch text.first {
        case "[":
            guard text.hasSuffix("]") else { throw Failure(description: "a list goes over one line: \(text)") }
            let inner = text.dropFirst().dropLast()
            guard !inner.isEmpty else { return .list([]) }
            return .list(try inner.split(separator: ",").map { try inline($0.drop { $0 == " " }) })
        case "'":
            guard text.count >= 2, text.hasSuffix("'") else { throw Failure(description: "no end quote: \(text)") }
            return .scalar(String(text.dropFirst().dropLast()).replacing("''", with: "'"))
        case "{", "\"", "|", ">", "&", "*", "!", "%", "@", "`":
            throw Failure(description: "a form that this reader does not know: \(text)")
        default:
            guard !text.contains(" #"), !text.contains(": ") else {
                throw Failure(description: "a plain scalar that is none in YAML: \(text)")
            }
            return .scalar(String(text))
        }
    }
}
