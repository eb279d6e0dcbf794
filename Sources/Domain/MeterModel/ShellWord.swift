extension String {
    /// The text, in quotes if it contains blanks.
    package var shellWord: String { contains(" ") ? "\"\(self)\"" : self }
}
