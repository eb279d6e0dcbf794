import ArgumentParser
import FoundationEssentials
import Gateway
import GatewayAPI
import Glibc
import LinuxIO
import Logging
import MeterStore
import ProgramKit
import USBTransport

package enum MeterdProgram {
    package static func main() async { await Meterd.main() }
}

struct Meterd: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "meterd",
        abstract: "Connect USB power meters, read them continuously, and store their readings.",
        discussion:
            "meterctl controls meterd. meterd reads /etc/meterd/meterd.toml, then METERD_… variables, then flags; "
            + "a later value replaces an earlier value.",
        version: "meterd \(VersionBody.current.version) (\(VersionBody.current.commit), \(VersionBody.current.build))"
    )

    @Option(help: "Configuration file. Default: /etc/meterd/meterd.toml if it exists.")
    var config: String?

    @Option(help: "Folder in which meterd stores its data.")
    var stateDirectory: String?

    @Option(help: "Path of the Unix socket to which meterctl connects.")
    var socket: String?

    @Option(help: "Level of the log: trace, debug, info, notice, warning, error or critical.")
    var logLevel: String?

    @Option(
        help: ArgumentHelp(
            "Replace the store with a backup, and exit. meterd must not be running. The previous store is kept under "
                + "another name in the same folder.",
            valueName: "file"))
    var restore: String?

    @Flag(help: "Print every key of the configuration with its default and purpose, and exit.")
    var printConfiguration = false

    @Flag(help: "Simulate four meters with a temporary store, without hardware and without root.")
    var demo = false

    @Flag(help: "Like --demo, but only if no meter is plugged in and no Bluetooth adapter is usable.")
    var demoIfAlone = false

    static func main() async {
        await runProgram(next: "see the log above, and Docs/Operating.md")
    }

    func validate() throws {
        if socket?.isEmpty == true { throw ValidationError("--socket names no path") }
        if stateDirectory?.isEmpty == true { throw ValidationError("--state-directory names no path") }
    }

    func run() async throws {
        if printConfiguration {
            print(ConfigurationReference.text(isSwitchedOff: true), terminator: "")
            return
        }
        var configuration = try readConfiguration()
        if let restore { return try Self.putBack(restore, into: configuration) }
        let isDemo = demo || (demoIfAlone && Self.isAlone(configuration))
        LogFormat.bootstrap()
        var logger = Logger(label: "meterd")
        logger.logLevel = configuration.logLevel
        if isDemo {
            if stateDirectory == nil { configuration.stateDirectory = try Self.temporaryDirectory() }
            configuration.hostName = configuration.hostName ?? Demo.firstHostName
            // Use no radio in the demo, because the user has not agreed to it.
            configuration.bluetooth.isUsed = false
        }
        defer { if isDemo, stateDirectory == nil { Self.remove(configuration.stateDirectory) } }
        do {
            try await Daemon(
                configuration: configuration, isDemo: isDemo, logger: logger,
                manager: ServiceManager(environment: ProcessInfo.processInfo.environment)
            ).run()
        } catch let error as StoreError {
            throw CommandFailure(
                .error, "the store cannot be used: \(error.message)",
                next: "its folder is \(configuration.stateDirectory); another is taken with --state-directory")
        } catch let error as GatewayError {
            throw CommandFailure(.error, error.message, next: error.next)
        } catch let error as ConfigurationError {
            throw CommandFailure(.error, error.message, next: error.next)
        }
    }

    private func readConfiguration() throws -> Configuration {
        let environment = ProcessInfo.processInfo.environment
        var configuration = Configuration(environment: environment, userID: geteuid())
        do {
            let path = config ?? "/etc/meterd/meterd.toml"
            if config != nil || access(path, F_OK) == 0 {
                guard let text = try? String(contentsOfFile: path, encoding: .utf8) else {
                    throw ConfigurationError(
                        "\(path) cannot be read: \(String(cString: strerror(errno)))",
                        next: "check the path and its mode")
                }
                try ConfigurationFile(text: text, path: path).apply(to: &configuration)
            }
            try configuration.apply(environment: environment)
            try configuration.apply(
                overrides: ["--state-directory": stateDirectory, "--socket": socket, "--log-level": logLevel]
                    .compactMapValues(\.self))
        } catch let error as ConfigurationError {
            throw CommandFailure(.error, error.message, next: error.next)
        }
        return configuration
    }

    private static func putBack(_ backup: String, into configuration: Configuration) throws {
        let path = configuration.storePath
        do throws(StoreError) {
            let former = try MeterStore.restore(from: backup, to: path)
            Terminal.talk("\(path) is what \(backup) has")
            if let former { Terminal.talk("what was there before is in \(former)") }
            Terminal.talk("start meterd again; a meter that it had a moment ago may be refused for up to three minutes")
        } catch {
            throw CommandFailure(
                .error, error.message, next: "nothing is lost; see Docs/Operating.md#a-hosts-own-backup")
        }
    }

    /// Whether no real meter can be present. A usable radio counts as a meter, because scanning takes too long.
    private static func isAlone(_ configuration: Configuration) -> Bool {
        configuration.ports.isEmpty && PortScanner(host: "").scan(declared: []).isEmpty
            && !(configuration.bluetooth.isUsed && RadioAccess.present == .usable)
    }

    private static func temporaryDirectory() throws -> String {
        var template = Array("/tmp/meterd-demo-XXXXXX".utf8CString)
        guard let path = mkdtemp(&template) else {
            throw CommandFailure(
                .error, "no temporary directory: \(String(cString: strerror(errno)))",
                next: "choose a folder with --state-directory")
        }
        return String(cString: path)
    }

    private static func remove(_ directory: String) {
        // A remaining folder in /tmp is harmless.
        try? FileManager.default.removeItem(atPath: directory)
    }
}
