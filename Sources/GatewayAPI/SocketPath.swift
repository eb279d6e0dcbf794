/// Path of the control socket (Docs/CommandLine.md#socket).
package enum SocketPath {
    /// Socket of the meterd that the system runs.
    package static let system = "/run/meterd/control.sock"

    /// Socket of a meterd that a user runs.
    ///
    /// - Parameter userID: for a path under /tmp if `XDG_RUNTIME_DIR` is not set.
    package static func user(runtimeDirectory: String?, userID: UInt32) -> String {
        guard let runtimeDirectory, runtimeDirectory.hasPrefix("/") else { return "/tmp/meterd-\(userID)/control.sock" }
        return "\(runtimeDirectory)/meterd/control.sock"
    }
}
