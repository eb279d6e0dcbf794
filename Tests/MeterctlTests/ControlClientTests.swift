import Foundation
import GatewayAPI
import ProgramKit
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

    private static func page(_ path: String) throws -> String {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        return try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    @Test func contract_listsEveryErrorWithItsExitCode() throws {
        let rows = try Self.page("Docs/meterd-openapi.yaml").split(separator: "\n").map { $0.split(separator: " ") }
        for code in ErrorCode.allCases {
            let row = rows.first { $0.count == 3 && $0[0] == code.rawValue }
            #expect(row.map { String($0[2]) } == "\(ControlClient.status(for: code).rawValue)", "\(code)")
        }
    }

    @Test func manual_listsEveryExitCode() throws {
        let manual = try Self.page("Packaging/manual/meterctl")
        for status in ExitStatus.allCases { #expect(manual.contains("\n\(status.rawValue): "), "\(status)") }
    }

    @Test func noSocket_isDaemonNotRunning_withTheCommandThatStartsIt() async {
        let failure = await failure("/nonexistent/control.sock")

        #expect(failure?.status == .daemonNotRunning)
        #expect(failure?.status == .daemonNotRunning)
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

    @Test(.disabled(if: geteuid() == 0, "root may open everything: make test, not as root"))
    func socketOfSomebodyElse_isNoPermission() async throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("ctl-\(UUID().uuidString.prefix(8))")
            .path
        #expect(FileManager.default.createFile(atPath: path, contents: nil, attributes: [.posixPermissions: 0o000]))
        defer { try? FileManager.default.removeItem(atPath: path) }

        let failure = await failure(path)

        #expect(failure?.status == .noPermission)
        #expect(failure?.next == "join its group and log in again: sudo adduser $USER meterd")
    }

    /// What the lines were, and the error that the stream ended with.
    private func stream(from daemon: OneAnswerDaemon) async -> (lines: [Int], failure: CommandFailure?) {
        var client = ControlClient(socketPath: daemon.path)
        client.endPatience = .milliseconds(1)
        var lines: [Int] = []
        do {
            try await client.lines("/v1/stream", as: Int.self) { lines.append($0) }
        } catch {
            return (lines, error as? CommandFailure)
        }
    }

    @Test func endOfAStream_isAnError_whereTheDaemonLives() async throws {
        let daemon = try OneAnswerDaemon(answer: "1\n\n2\n", leaves: false)
        defer { daemon.leave() }

        let (lines, failure) = await stream(from: daemon)

        #expect(lines == [1, 2])
        #expect(failure?.status == .error)
        #expect(failure?.message == "meterd ended the stream on \(daemon.path)")
    }

    @Test func endOfAStream_isDaemonNotRunning_whereNobodyListensAnyMore() async throws {
        let daemon = try OneAnswerDaemon(answer: "1\n", leaves: true)

        let (lines, failure) = await stream(from: daemon)

        #expect(lines == [1])
        #expect(failure?.status == .daemonNotRunning)
        #expect(failure?.message == "no meterd answers on \(daemon.path)")
    }

    @Test func exitCodes_areThoseOfTheCommandLinesDocument() {
        let codes: [(ProgramKit.ExitStatus, Int32)] = [
            (.ok, 0), (.error, 1), (.usage, 2), (.noSuchMeter, 3), (.heldElsewhere, 4), (.timedOut, 5),
            (.noPermission, 6),
            (.daemonNotRunning, 7),
        ]
        #expect(codes.allSatisfy { $0.rawValue == $1 })
    }

    @Test(arguments: [
        (ErrorCode.badRequest, ProgramKit.ExitStatus.usage), (.noSuchMeter, .noSuchMeter),
        (.ambiguousMeter, .noSuchMeter),
        (.modelUnknown, .error), (.notConnected, .error), (.refused, .error), (.timedOut, .timedOut),
        (.held, .heldElsewhere),
        (.permission, .noPermission), (.store, .error), (.shuttingDown, .error), (.notFound, .error),
        (.internalError, .error),
    ])
    func errorOfTheDaemon_hasItsExitCode(_ code: ErrorCode, _ status: ProgramKit.ExitStatus) {
        #expect(ControlClient.status(for: code) == status)
    }

    @Test func timeArgument_takesTimes_andNothingElse() {
        #expect(TimeArgument(argument: "10s")?.duration == .seconds(10))
        #expect(TimeArgument(argument: "soon") == nil)
    }
}

/// Answers the first request with a body that ends when the connection does.
final class OneAnswerDaemon: Sendable {
    let path = FileManager.default.temporaryDirectory.appendingPathComponent("ctl-\(UUID().uuidString.prefix(8))").path
    private let listener: Int32
    private let answer: String
    private let leaves: Bool

    /// - Parameter leaves: it stops to listen before the answer ends.
    init(answer: String, leaves: Bool) throws {
        self.answer = answer
        self.leaves = leaves
        listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
        let bound = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        try #require(bound == 0 && listen(listener, 8) == 0)
        Thread.detachNewThread { self.serve() }
    }

    func leave() {
        shutdown(listener, Int32(SHUT_RDWR))
        unlink(path)
    }

    /// Whoever connects and says nothing only looks whether somebody is there.
    private func serve() {
        while true {
            let connection = accept(listener, nil, nil)
            guard connection >= 0 else {
                close(listener)
                return
            }
            var request = [UInt8](repeating: 0, count: 4096)
            if read(connection, &request, request.count) > 0 {
                let text = "HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n\(answer)"
                _ = Array(text.utf8).withUnsafeBytes { write(connection, $0.baseAddress, $0.count) }
                if leaves { leave() }
            }
            close(connection)
        }
    }
}
