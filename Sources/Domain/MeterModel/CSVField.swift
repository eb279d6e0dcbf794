extension String {
    /// A field of CSV (RFC 4180): in quotes where it has to be.
    package var csvField: String {
        guard contains(where: { ",\"\r\n".contains($0) }) else { return self }
        return "\"" + replacing("\"", with: "\"\"") + "\""
    }
}
