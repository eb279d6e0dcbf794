import ArgumentParser
import Domain
import GatewayAPI
import MeterCodec
import NIOCore
import ProgramKit

struct PD: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pd",
        abstract: "Show the USB Power Delivery messages that a meter captures: offers, requests and contracts.",
        discussion: """
            Works with meters that monitor the USB-C CC line (\(models)). Shows the last 1000 entries since meterd \
            started. Wireshark reads the pcapng format with Docs/Examples/usb-pd.lua: meterctl pd charger --format \
            pcapng -o pd.pcapng
            """)

    private static let models = MeterCatalogue.standard.modelsHearingPD.map(\.displayName).joined(separator: ", ")

    @OptionGroup var daemon: DaemonOptions
    @Argument(help: .meter, completion: .meters) var meter: String
    @Flag(help: "Print new entries as they arrive, until Ctrl-C.")
    var follow = false
    @Flag(help: "Include the acknowledgements (GoodCRC), one for each message.")
    var all = false
    @OptionGroup var times: TimeOptions
    @Option(help: "Write all entries in this format instead of a table: text or pcapng.")
    var format: Format?
    @Option(name: .shortAndLong, help: "File to write. Default: standard output.", completion: .file())
    var output: String?
    @Flag(help: "Print JSON; with --follow, one entry per line.")
    var json = false

    enum Format: String, ExpressibleByArgument, CaseIterable { case text, pcapng }

    func validate() throws {
        if format != nil, json || follow { throw ValidationError("--format excludes --json and --follow") }
        if output != nil, format == nil { throw ValidationError("-o takes --format text or --format pcapng") }
    }

    func run() async throws {
        if let format { return try await save(as: format) }
        let client = daemon.client
        let body: PDBody = try await client.call(.get, meterPath(meter, "/pd"))
        guard follow else {
            if json { return Terminal.exact(try JSONOutput.pretty(body)) }
            return show(body)
        }
        try show(first: body)
        try await follow(client, from: body)
    }

    private func save(as format: Format) async throws {
        let output = output ?? "-"
        // A wrong meter name fails here, before a file is created.
        try await daemon.client.bytes(meterPath(meter, "/pd?format=\(format.rawValue)")) { chunks in
            let file = try OutputFile(path: output)
            try await chunks.forEach { try file.write(bytes: $0.readableBytesView) }
        }
    }

    private func show(_ body: PDBody) {
        for line in PDOutput.standing(body, times.text) { Terminal.line(line) }
        if !body.capabilities.isEmpty { PDOutput.offers(body).print() }
        let entries = body.entries.filter { all || !$0.isReceipt }
        if entries.isEmpty {
            Terminal.talk("nothing was heard of USB Power Delivery yet")
        } else {
            PDOutput.entries(entries, times.text).print()
        }
        if body.dropped > 0 { Terminal.talk("\(body.dropped) older entries are not kept any more") }
    }

    private func show(first body: PDBody) throws {
        if json { return try print(body.entries) }
        show(body)
    }

    private func follow(_ client: ControlClient, from first: PDBody) async throws {
        var last = first.last
        while true {
            try await Task.sleep(for: .milliseconds(300))
            let body: PDBody = try await client.call(.get, meterPath(meter, "/pd?after=\(last)"))
            // If the messages' numbers decreased, meterd was restarted and counts from 1 again.
            let isAnew = body.last < last
            let news: PDBody = isAnew ? try await client.call(.get, meterPath(meter, "/pd")) : body
            try print(news.entries.filter { isAnew || $0.number > last })
            last = news.last
        }
    }

    private func print(_ entries: [PDEntryBody]) throws {
        for entry in entries where all || !entry.isReceipt {
            if json {
                Terminal.exact(try JSONOutput.line(entry))
            } else {
                Terminal.line(PDOutput.line(entry, times.text))
            }
        }
    }
}

extension PDEntryBody {
    fileprivate var isReceipt: Bool { message?.acknowledges == true }
}
