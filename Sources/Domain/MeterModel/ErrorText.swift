/// Describes an error for people, because the standard library's errors print as Swift values.
///
/// - Parameter known: describes library errors that this target does not import; returns nil for other errors.
package func words(for error: any Error, known: (any Error) -> String? = { _ in nil }) -> String {
    if let words = known(error) { return words }
    switch error {
    case let error as DecodingError: return words(for: error)
    case is EncodingError: return "it cannot be written as JSON"
    case is CancellationError: return "it was cancelled"
    case let error as any CustomStringConvertible: return error.description
    // Name only the type, because the values in such an error are not meant for people.
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
    /// The text in quotation marks, cut to 80 cells: for unexpected input in messages.
    package var quoted: String { "\"\(visible.fitting(80))\"" }

    /// The beginning and end of a text of more than 2000 bytes, for messages that quote input. The end often contains
    /// the advice.
    package var bounded: String {
        guard utf8.count > 2000 else { return self }
        // Cut at scalars, because one letter may have any number of accents.
        let (head, tail) = (utf8.index(startIndex, offsetBy: 1000), utf8.index(endIndex, offsetBy: -900))
        return "\(String(unicodeScalars[..<head])) … \(String(unicodeScalars[tail...]))"
    }
}
