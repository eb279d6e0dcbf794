import CloudAPI
import CloudClient
import Domain
import Foundation
import Glibc
import LeaseWitness
import MeterTestKit
import Synchronization

/// The program `metercloud` on one data directory, killed and started again.
final class KilledCloud: Sendable {
    /// nil while it is down.
    private let address = Mutex<String?>(nil)
    private let server = Mutex<Process?>(nil)
    private let folder: TemporaryFolder
    private let program: String

    init() throws {
        let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        program = URL(fileURLWithPath: own).deletingLastPathComponent().appendingPathComponent("metercloud").path
        folder = try TemporaryFolder()
    }

    deinit { kill() }

    var url: String? { address.withLock { $0 } }
    private var data: String { "\(folder.path)/cloud" }

    /// Starts it, on a port that the system chooses, and waits until it can be reached.
    ///
    /// - Returns: its certificate's pin.
    @discardableResult
    func start() async throws -> CertificatePin {
        let output = "\(folder.path)/output"
        try Data().write(to: URL(fileURLWithPath: output))
        let server = process(["serve", "--listen", "127.0.0.1:0", "--rate", "100000", "--log-level", "error"])
        server.standardOutput = try FileHandle(forWritingTo: URL(fileURLWithPath: output))
        try server.run()
        self.server.withLock { $0 = server }
        while true {
            let text = try String(contentsOfFile: output, encoding: .utf8)
            if text.hasSuffix("\n"), let line = text.firstMatch(of: /(https:\S+) .*--pin (sha256:\S+)/),
                let pin = CertificatePin(line.output.2)
            {
                address.withLock { $0 = String(line.output.1) }
                return pin
            }
            guard server.isRunning else { throw RunFailure("metercloud ended at its start: \(text)") }
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    /// SIGKILL, at whatever it is doing. Returns when it is gone.
    func kill() {
        address.withLock { $0 = nil }
        guard let server = server.withLock({ $0.take() }) else { return }
        Glibc.kill(server.processIdentifier, SIGKILL)
        server.waitUntilExit()
    }

    /// Makes the zones as they are to be.
    func prepareZones() throws -> [LeaseCrowd.Zone] {
        try WitnessZones.all.map { name, terms in
            try administer(["zone", "create", name])
            // The first zone is there from the beginning.
            try administer([
                "zone", "set", name, "--policy", terms.policy.rawValue, "--ttl",
                "\(terms.timeToLive.components.seconds)s", "--lock-delay", "\(terms.lockDelay.components.seconds)s",
                "--max-leases", "\(WitnessZones.leaseLimit)",
            ])
            return LeaseCrowd.Zone(
                name: name, terms: terms,
                enrolments: [try makeEnrolment(in: name), try makeEnrolment(in: name, ["--read-only"])])
        }
    }

    private func makeEnrolment(in zone: String, _ options: [String] = []) throws -> Secret {
        let path = "\(folder.path)/\(zone)\(options.joined()).token"
        try administer(["token", "create", "--zone", zone, "--enrolment", "--output", path] + options)
        let token = try String(contentsOfFile: path, encoding: .utf8)
        return Secret(token.trimmingCharacters(in: .whitespacesAndNewlines))
    }

    private func administer(_ arguments: [String]) throws {
        let run = process(arguments)
        run.standardOutput = FileHandle.nullDevice
        run.standardError = FileHandle.nullDevice
        try run.run()
        run.waitUntilExit()
        guard run.terminationStatus == 0 else {
            throw RunFailure("metercloud \(arguments.joined(separator: " ")) ended with \(run.terminationStatus)")
        }
    }

    private func process(_ arguments: [String]) -> Process {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments + ["--data", data]
        process.standardInput = FileHandle.nullDevice
        return process
    }
}

/// Why a run says nothing, or nothing good.
struct RunFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
