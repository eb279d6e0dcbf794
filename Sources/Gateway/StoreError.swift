/// Why the store did not do what it was asked. Part of the repository ports, so that every store says it in one way.
package struct StoreError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Code: String, Sendable {
        /// Another program, or another `meterd`, has it.
        case locked
        case readOnly = "read-only"
        /// The file is damaged. It is left as it is.
        case damaged
        /// A newer version of this program wrote it. It is left as it is.
        case newerVersion = "newer-version"
        case diskFull = "disk-full"
        case system
    }

    package var code: Code
    /// What failed, with which file, and what to do.
    package var message: String

    package init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    package var description: String { message }
}
