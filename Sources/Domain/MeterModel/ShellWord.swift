extension String {
    /// As it is typed in a command line to copy: in quotes where it has blanks.
    package var shellWord: String { contains(" ") ? "\"\(self)\"" : self }
}
