import Domain
import GatewayAPI
import Glibc

/// Output of `meterctl` without a command.
enum FirstSteps {
    struct Daemon: Equatable {
        var hasService: Bool
        /// Name of meterd if meterctl was called by its name, otherwise meterd's path; nil if it is not installed.
        var program: String?
    }

    /// - Parameter status: nil if meterd does not answer.
    static func text(_ status: GatewayStatus?, daemon: Daemon, path meterctl: String) -> String {
        guard let status else {
            return "No meterd runs here, so nothing reads your meters yet.\n\n" + table(starts(daemon))
                + "\n\nThen, in another terminal:\n\n" + table(next(meterctl))
                + "\n\n\(meterctl) --help lists every command."
        }
        guard !status.meters.isEmpty else {
            return "meterd runs, and knows no meter yet. Switch one on, or plug one in:\n\n" + table(next(meterctl))
                + "\n\n\(meterctl) doctor says why one is not found; \(meterctl) --help lists every command."
        }
        let live = status.meters.count { $0.hasData }
        let meters = status.meters.count == 1 ? "1 meter" : "\(status.meters.count) meters"
        return "meterd runs and knows \(meters), \(live) with data.\n\n" + table(next(meterctl))
            + "\n\n\(meterctl) doctor finds out why something does not work; \(meterctl) --help lists every command."
    }

    private static func starts(_ daemon: Daemon) -> [(String, String)] {
        var lines: [(String, String)] = []
        if daemon.hasService {
            lines.append(("sudo systemctl enable --now meterd", "starts it, now and at every boot"))
        }
        guard let program = daemon.program else {
            return lines.isEmpty ? [("meterd", "is not installed here: see README.md")] : lines
        }
        if !daemon.hasService { lines.append((program, "starts it in this terminal")) }
        return lines + [("\(program) --demo", "with four simulated meters, to try it without one")]
    }

    private static func next(_ meterctl: String) -> [(String, String)] {
        [
            ("\(meterctl) scan", "which meters are there"),
            ("\(meterctl) connect METER", "reads one, now and after every boot"),
            ("\(meterctl) status --watch", "all of them, live"),
            ("\(meterctl) web url", "where a browser shows the same, with charts"),
        ]
    }

    private static func table(_ lines: [(String, String)]) -> String {
        let width = lines.map(\.0.count).max() ?? 0
        return lines.map { command, words in
            "  \(command)\(String(repeating: " ", count: width - command.count + 3))\(words)"
        }.joined(separator: "\n")
    }
}

extension FirstSteps.Daemon {
    private static let unitFolders = ["/etc/systemd/system", "/lib/systemd/system", "/usr/lib/systemd/system"]

    static var onThisMachine: Self {
        Self(
            hasService: unitFolders.contains { access("\($0)/meterd.service", F_OK) == 0 },
            program: TypedProgram.beside(TypedProgram.own, "meterd"))
    }
}

enum TypedProgram {
    static var own: String { CommandLine.arguments.first ?? "meterctl" }

    /// Returns how to call the program `name`: by its path beside `own` if `own` is a path, otherwise by name; nil if
    /// it does not exist.
    static func beside(_ own: String, _ name: String) -> String? {
        guard let slash = own.lastIndex(of: "/") else {
            let folders = getenv("PATH").map { String(cString: $0).split(separator: ":") } ?? []
            return folders.contains { access("\($0)/\(name)" as String, X_OK) == 0 } ? name : nil
        }
        let path = own[...slash] + name
        return access(String(path), X_OK) == 0 ? String(path) : nil
    }
}
