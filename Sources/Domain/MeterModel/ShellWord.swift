extension String {
    /// As a word of a command to copy, in quotes if it has blanks.
    package var shellWord: String { contains(" ") ? "\"\(self)\"" : self }
}
