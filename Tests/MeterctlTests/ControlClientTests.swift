import Foundation
import GatewayAPI
import Testing

@testable import meterctl

struct ControlClientTests {
    private func failure(_ socket: String) async -> CommandFailure? {
        do {
            let _: VersionBody = try await ControlClient(socketPath: socket).call(.get, "/v1/version")
            return nil
        } catch {
            return error as? CommandFailure
        }
    }

    @Test func noSocket_isDaemonNotRunning_withTheCommandThatStartsIt() async {
        let failure = await failure("/nonexistent/control.sock")

        #expect(failure?.status == .daemonNotRunning)
        #expect(failure?.exitCode == 7)
        #expect(failure?.message == "no meterd answers on /nonexistent/control.sock")
        #expect(failure?.next == "start it: meterd, or without a meter: meterd --demo")
    }

    @Test func socketThatNobodyListensOn_isDaemonNotRunning() async throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("ctl-\(UUID().uuidString.prefix(8))")
            .path
        #expect(FileManager.default.createFile(atPath: path, contents: nil))
        defer { try? FileManager.default.removeItem(atPath: path) }

        #expect(await failure(path)?.status == .daemonNotRunning)
    }

    @Test(.disabled(if: geteuid() == 0, "root may open everything, so the kernel refuses nothing here"))
    func socketOfSomebodyElse_isNoPermission() async throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("ctl-\(UUID().uuidString.prefix(8))")
            .path
        #expect(FileManager.default.createFile(atPath: path, contents: nil, attributes: [.posixPermissions: 0o000]))
        defer { try? FileManager.default.removeItem(atPath: path) }

        let failure = await failure(path)

        #expect(failure?.status == .noPermission)
        #expect(failure?.next == "join its group and log in again: sudo adduser $USER meterd")
    }

    @Test func exitCodes_areThoseOfTheCommandLinesDocument() {
        let codes: [(meterctl.ExitStatus, Int32)] = [
            (.ok, 0), (.error, 1), (.usage, 2), (.noSuchMeter, 3), (.heldElsewhere, 4), (.timedOut, 5),
            (.noPermission, 6),
            (.daemonNotRunning, 7),
        ]
        #expect(codes.allSatisfy { $0.rawValue == $1 })
    }

    @Test(arguments: [
        (ErrorCode.badRequest, meterctl.ExitStatus.usage), (.noSuchMeter, .noSuchMeter),
        (.ambiguousMeter, .noSuchMeter),
        (.modelUnknown, .error), (.notConnected, .error), (.refused, .error), (.timedOut, .timedOut),
        (.permission, .noPermission), (.store, .error), (.shuttingDown, .error), (.notFound, .error),
        (.internalError, .error),
    ])
    func errorOfTheDaemon_hasItsExitCode(_ code: ErrorCode, _ status: meterctl.ExitStatus) {
        #expect(ControlClient.status(for: code) == status)
    }

    @Test func timeArgument_takesTimes_andNothingElse() {
        #expect(TimeArgument(argument: "10s")?.duration == .seconds(10))
        #expect(TimeArgument(argument: "soon") == nil)
    }
}
