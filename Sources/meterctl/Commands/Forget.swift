import ArgumentParser
import Domain
import GatewayAPI
import Glibc
import ProgramKit

struct Forget: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Forget a meter: delete its settings on all hosts, and its entry on this host.",
        discussion: """
            Disconnects the meter first. Keeps recordings, and also readings unless you give --readings. A meter that \
            is in Bluetooth range or plugged in appears again.
            """)

    @OptionGroup var daemon: DaemonOptions
    @Argument(help: .meter, completion: .meters) var meter: String
    @Flag(help: "Delete the meter's stored readings too.")
    var readings = false
    @OptionGroup var confirmation: ConfirmationOption
    @OptionGroup var json: JSONOption

    func run() async throws {
        let alsoReadings = readings ? ", and all its readings on this host" : ""
        try confirmation.confirm("forget \(meter), its settings on all hosts of the cloud\(alsoReadings)")
        let gone: ForgottenMeter = try await daemon.client.call(
            .delete, meterPath(meter) + (readings ? "?readings=true" : ""), patience: .seconds(600))
        if try json.print(gone) { return }
        for line in Self.words(gone, called: meter) { Terminal.talk(line) }
    }

    static func words(_ gone: ForgottenMeter, called reference: String) -> [String] {
        let settings = gone.settings ? ", and so are its settings on all hosts" : ""
        var lines = ["\(reference) is forgotten\(settings)"]
        if !gone.aliases.isEmpty { lines.append("these ids mean it no more: \(gone.aliases.joined(separator: ", "))") }
        if let readings = gone.readings { lines.append("\(readings) stored readings are deleted") }
        if gone.is_here { lines.append("it is here, so it appears anew: meterctl scan") }
        return lines
    }
}

struct ConfirmationOption: ParsableArguments {
    @Flag(help: "Do not ask for confirmation.")
    var yes = false

    /// - Parameter deed: action to confirm, such as "delete all readings".
    func confirm(_ deed: String) throws {
        guard !yes else { return }
        guard isatty(STDIN_FILENO) == 1 else {
            throw CommandFailure(.usage, "there is no terminal to ask whether to \(deed)", next: "confirm with --yes")
        }
        guard Self.isAgreed(deed) else {
            throw CommandFailure(.error, "nothing was done", next: "answer y, or give --yes")
        }
    }

    static func isAgreed(_ question: String) -> Bool {
        Terminal.talk("\(question)? [y/N]")
        return ["y", "yes"].contains(readLine()?.lowercased())
    }
}
