/// Path of the control socket (Docs/CommandLine.md#socket).
package enum SocketPath {
    /// Socket of the system's daemon.
    package static let system = "/run/meterd/control.sock"

    /// Returns the socket path of a user's own daemon.
    ///
    /// - Parameters:
    ///   - runtimeDirectory: `XDG_RUNTIME_DIR`, if set.
    ///   - userID: used for a path under /tmp if `runtimeDirectory` is nil.
    package static func user(runtimeDirectory: String?, userID: UInt32) -> String {
        guard let runtimeDirectory, runtimeDirectory.hasPrefix("/") else { return "/tmp/meterd-\(userID)/control.sock" }
        return "\(runtimeDirectory)/meterd/control.sock"
    }
}
