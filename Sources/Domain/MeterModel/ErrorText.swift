/// An error in words for people. The standard library's own print as Swift values, which tell a person nothing.
///
/// - Parameter known: words for what a library throws that this target does not know; nil for anything else.
package func words(for error: any Error, known: (any Error) -> String? = { _ in nil }) -> String {
    if let words = known(error) { return words }
    switch error {
    case let error as DecodingError: return words(for: error)
    case is EncodingError: return "it cannot be written as JSON"
    case is CancellationError: return "it was cancelled"
    case let error as any CustomStringConvertible: return error.description
    // The name of its type: the values in it were never meant for a message.
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
    /// In quotation marks, at most 80 cells of it: for what somebody sent that was not expected.
    package var quoted: String { "\"\(visible.fitting(80))\"" }

    /// Itself; of more than 2000 bytes only the beginning and the end, which says what to do. For words to people that
    /// quote what somebody sent.
    package var bounded: String {
        guard utf8.count > 2000 else { return self }
        // Scalars, as one letter may have any number of accents.
        let (head, tail) = (utf8.index(startIndex, offsetBy: 1000), utf8.index(endIndex, offsetBy: -900))
        return "\(String(unicodeScalars[..<head])) … \(String(unicodeScalars[tail...]))"
    }
}
