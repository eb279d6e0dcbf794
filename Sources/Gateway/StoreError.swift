/// Reason for a failure of the store. Part of the repository ports, so that all stores report errors in the same way.
package struct StoreError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Code: String, Sendable {
        /// Another program, or another `meterd`, has locked the file.
        case locked
        case readOnly = "read-only"
        /// The file is damaged. meterd does not change it.
        case damaged
        /// A newer version of this program wrote the file. meterd does not change it.
        case newerVersion = "newer-version"
        case diskFull = "disk-full"
        case system
    }

    package var code: Code
    /// Description of the failure, with the file, and the remedy.
    package var message: String

    package init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    package var description: String { message }
}
