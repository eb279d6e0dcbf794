import ArgumentParser
import CloudServer
import FoundationEssentials
import Glibc
import LinuxIO

struct DataOptions: ParsableArguments {
    @Option(
        help: """
            Folder in which the cloud stores its data. Default: $METERCLOUD_DATA, then the service's folder \
            ($STATE_DIRECTORY), then /var/lib/metercloud for root and ~/.local/state/metercloud for other users.
            """)
    var data: String?

    var folder: CloudFolder {
        let path = data ?? Self.standardPath(environment: ProcessInfo.processInfo.environment, userID: geteuid())
        return CloudFolder(path: path.absolutePath)
    }

    func validate() throws {
        if data?.isEmpty == true { throw ValidationError("--data names no folder") }
    }

    static func standardPath(environment: [String: String], userID: UInt32) -> String {
        let environment = environment.filter { !$0.value.isEmpty }
        if let path = environment["METERCLOUD_DATA"] { return path }
        if let path = ServiceManager.folder("STATE_DIRECTORY", in: environment) { return path }
        guard userID != 0 else { return "/var/lib/metercloud" }
        let home = environment["HOME"] ?? "/tmp/metercloud-\(userID)"
        let state = environment["XDG_STATE_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil } ?? "\(home)/.local/state"
        return "\(state)/metercloud"
    }
}

extension String {
    var absolutePath: String {
        guard !hasPrefix("/") else { return self }
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        guard getcwd(&buffer, buffer.count) != nil else { return self }
        let current = String(decoding: buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        return current == "/" ? "/\(self)" : "\(current)/\(self)"
    }

    var shellQuoted: String {
        let plain = utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "/"), UInt8(ascii: ":"):
                true
            default: false
            }
        }
        return plain && !isEmpty ? self : "'\(replacing("'", with: "'\\''"))'"
    }
}

extension CompletionKind {
    /// Zones of the cloud in the default folder; none if it does not answer within a second.
    static var zones: CompletionKind {
        .shellCommand("timeout 1 metercloud zone list 2>/dev/null | sed 1d | cut -d' ' -f1")
    }
}
