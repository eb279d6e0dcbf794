/// Describes an error for users; the standard library's errors print as Swift values.
///
/// - Parameter known: describes errors of libraries that this target does not import; nil for others.
package func words(for error: any Error, known: (any Error) -> String? = { _ in nil }) -> String {
    if let words = known(error) { return words }
    switch error {
    case let error as DecodingError: return words(for: error)
    case is EncodingError: return "it cannot be written as JSON"
    case is CancellationError: return "it was cancelled"
    case let error as any CustomStringConvertible: return error.description
    // The values in such an error are not meant for users.
    default: return "an error of the kind \(type(of: error))"
    }
}

private func words(for error: DecodingError) -> String {
    switch error {
    case .keyNotFound(let key, let context): "\(path(context.codingPath + [key])) is missing"
    case .typeMismatch(_, let context), .valueNotFound(_, let context):
        "\(path(context.codingPath)) has the wrong type"
    case .dataCorrupted(let context) where !context.codingPath.isEmpty:
        "\(path(context.codingPath)): \(context.debugDescription)"
    case .dataCorrupted: "it is not valid JSON"
    @unknown default: "it does not fit"
    }
}

private func path(_ keys: [any CodingKey]) -> String {
    keys.isEmpty ? "the whole" : keys.map(\.stringValue).joined(separator: ".")
}

extension String {
    /// The text in quotation marks, cut to 80 terminal cells, for messages about unexpected input.
    package var quoted: String { "\"\(visible.fitting(80))\"" }

    /// The text; if it exceeds 2000 bytes, only its beginning and its end, which often contains the advice.
    package var bounded: String {
        guard utf8.count > 2000 else { return self }
        // One letter may have any number of accents, so cut at Unicode scalars.
        let (head, tail) = (utf8.index(startIndex, offsetBy: 1000), utf8.index(endIndex, offsetBy: -900))
        return "\(String(unicodeScalars[..<head])) … \(String(unicodeScalars[tail...]))"
    }
}
