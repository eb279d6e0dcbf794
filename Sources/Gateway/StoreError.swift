/// Failure of the store, thrown by all implementations of the repository protocols.
package struct StoreError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Code: String, Sendable {
        /// Another program or another `meterd` has locked the store's file.
        case locked
        case readOnly = "read-only"
        /// The store's file is damaged. meterd does not change it.
        case damaged
        /// A newer version of this program wrote the store's file. meterd does not change it.
        case newerVersion = "newer-version"
        case diskFull = "disk-full"
        case system
    }

    package var code: Code
    /// Names the file and the remedy.
    package var message: String

    package init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    package var description: String { message }
}
