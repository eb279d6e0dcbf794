import ArgumentParser
import GatewayAPI
import ProgramKit

struct Sync: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Sync settings with the cloud, or show, cancel or resume the sync.",
        subcommands: [Now.self, Status.self, Events.self, Cancel.self, Resume.self, Parked.self],
        defaultSubcommand: Now.self)

    struct Now: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Send and fetch all changes, and show the result.")

        @OptionGroup var daemon: DaemonOptions
        @Flag(help: "Return without waiting for the result.")
        var detach = false
        @OptionGroup var json: JSONOption

        func run() async throws {
            let client = daemon.client
            guard !detach else {
                let status: SyncStatusBody = try await client.call(
                    .post, "/v1/sync", body: SyncRequest(detach: true))
                if try json.print(status) { return }
                return Terminal.talk("asked for; meterctl sync status shows the details")
            }
            try show(try await result(client))
        }

        private func result(_ client: ControlClient) async throws -> SyncResultBody {
            try await withThrowingTaskGroup(of: SyncResultBody?.self) { group in
                group.addTask {
                    try await client.call(.post, "/v1/sync", body: SyncRequest(), patience: .seconds(86_400))
                }
                if Terminal.isTalkATerminal {
                    group.addTask {
                        try await SyncProgressPrinter(client: client).run()
                        return nil
                    }
                }
                defer { group.cancelAll() }
                while let ended = try await group.next() {
                    if let ended { return ended }
                }
                throw CancellationError()
            }
        }

        private func show(_ result: SyncResultBody) throws {
            if try !json.print(result) {
                SyncText.table(result).print()
                Terminal.line(SyncText.summary(result))
            }
            guard let error = result.error else { return }
            throw CommandFailure(
                .error, error, next: result.next ?? "meterd tries again; meterctl sync status shows when")
        }
    }

    struct Status: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show pending changes, errors and the last result.")

        @OptionGroup var daemon: DaemonOptions
        @OptionGroup var times: TimeOptions
        @OptionGroup var json: JSONOption

        func run() async throws {
            let status: SyncStatusBody = try await daemon.client.call(.get, "/v1/sync")
            if try json.print(status) { return }
            SyncText.table(status, times.text).print()
            if let result = status.result {
                SyncText.table(result).print()
                Terminal.line(SyncText.summary(result))
            }
        }
    }

    struct Events: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print each event of the synchronization with the cloud until Ctrl-C.")

        @OptionGroup var daemon: DaemonOptions
        @OptionGroup var times: TimeOptions
        @Flag(help: "Print one JSON object per line.")
        var json = false
        @Option(name: .customLong("for"), help: "Stop after this duration, such as 60s.")
        var duration: TimeArgument?

        func run() async throws {
            let (client, json, times) = (daemon.client, json, times.text)
            try await withTimeLimit(duration?.duration) {
                try await client.lines("/v1/sync/events", as: SyncEventLine.self) { line in
                    if let missed = line.missed {
                        Terminal.talk("\(missed) events were missed: this output is too slow")
                    }
                    if json {
                        Terminal.exact(try JSONOutput.line(line))
                    } else {
                        let time = line.time.map { times.text($0, withMilliseconds: true) } ?? "–"
                        Terminal.line("\(line.number)  \(time)  \(line.event)")
                    }
                }
            }
        }
    }

    struct Cancel: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Stop the current sync after the current page of records. The next sync continues from there.")

        @OptionGroup var daemon: DaemonOptions
        @OptionGroup var json: JSONOption

        func run() async throws {
            let status: SyncStatusBody = try await daemon.client.call(.post, "/v1/sync/cancel")
            if try json.print(status) { return }
            Terminal.talk("\(SyncText.mode(status)); meterctl sync now goes on")
        }
    }

    struct Resume: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Resume a halted sync, once the cause of the halt is fixed.")

        @OptionGroup var daemon: DaemonOptions
        @OptionGroup var json: JSONOption

        func run() async throws {
            let status: SyncStatusBody = try await daemon.client.call(.post, "/v1/sync/resume")
            if try json.print(status) { return }
            Terminal.talk(SyncText.mode(status))
        }
    }
}

private struct SyncProgressPrinter {
    let client: ControlClient

    func run() async throws {
        var line = ProgressLine()
        defer { line.end() }
        let before: SyncStatusBody = try await client.call(.get, "/v1/sync")
        while true {
            try await Task.sleep(for: .milliseconds(300))
            let status: SyncStatusBody = try await client.call(.get, "/v1/sync")
            let pages = status.counters.pages - min(before.counters.pages, status.counters.pages)
            let batches = status.counters.batches - min(before.counters.batches, status.counters.batches)
            line.show("\(status.mode): \(pages) pages read, \(batches) batches told, \(status.pending) changes wait")
        }
    }
}
