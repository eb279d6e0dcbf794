extension String {
    /// The text as a CSV field (RFC 4180), in quotes only if necessary.
    package var csvField: String {
        guard contains(where: { ",\"\r\n".contains($0) }) else { return self }
        return "\"" + replacing("\"", with: "\"\"") + "\""
    }
}
