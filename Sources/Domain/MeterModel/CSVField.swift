extension String {
    /// CSV field (RFC 4180), quoted only if necessary.
    package var csvField: String {
        guard contains(where: { ",\"\r\n".contains($0) }) else { return self }
        return "\"" + replacing("\"", with: "\"\"") + "\""
    }
}
