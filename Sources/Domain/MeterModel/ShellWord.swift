extension String {
    /// The text as one word of a shell command, in quotes if it contains blanks.
    package var shellWord: String { contains(" ") ? "\"\(self)\"" : self }
}
