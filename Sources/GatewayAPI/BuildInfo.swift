import CBuildInfo

extension VersionBody {
    package static let current = VersionBody(
        version: "0.1.0", commit: String(cString: build_commit()), build: buildConfiguration)

    private static var buildConfiguration: String {
        #if DEBUG
        "debug"
        #else
        "release"
        #endif
    }
}
