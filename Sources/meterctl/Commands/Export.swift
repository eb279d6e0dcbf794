import ArgumentParser
import Domain
import GatewayAPI
import NIOCore
import ProgramKit

struct Export: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Export the stored readings of a stretch of time, as CSV or one JSON object per line.",
        discussion: """
            Exports readings that this host stored, within and outside recordings. Old readings exist only as means \
            over seconds or minutes. With --every, all meters have values at the same times: meterctl export charger \
            phone --every 1s. --between uses the marks of the first meter.
            """)

    @OptionGroup var daemon: DaemonOptions
    @Argument(help: "One or more meters whose readings are exported.", completion: .meters)
    var meters: [String]
    @OptionGroup var when: SpanOptions
    @Option(help: "Format: csv or json.")
    var format = Format.csv
    @Option(
        name: [.long, .customLong("align")],
        help: "Export one mean per interval of this length, 100ms to 24h. Default: export all readings.")
    var every: TimeArgument?
    @Option(name: .shortAndLong, help: "File to write. Default: standard output.", completion: .file())
    var output = "-"

    enum Format: String, ExpressibleByArgument, CaseIterable { case csv, json }

    func validate() throws {
        if meters.count > 1, every == nil {
            throw ValidationError("several meters have no common times; give --every, for example --every 1s")
        }
        if Swift.Set(meters).count < meters.count { throw ValidationError("a meter is named twice") }
    }

    func run() async throws {
        let client = daemon.client
        let span = try await when.span(of: meters[0], client)
        var query =
            "from=\(span.lowerBound.millisecondsSince1970)&to=\(span.upperBound.millisecondsSince1970)&format=\(format.rawValue)"
        if let every { query += "&every=\(every.duration.milliseconds)" }
        let path: String
        if meters.count == 1 {
            path = try meterPath(meters[0], "/export?\(query)")
        } else {
            path = "/v1/export?\(query)\(meters.map { "&meter=\($0.percentEncoded)" }.joined())"
        }
        // A wrong meter name fails here, before a file is created.
        let count = try await client.bytes(path) { chunks in try await write(chunks, of: span) }
        if count == 0 { Terminal.talk("no readings of this time are stored here") }
        if output != "-" { Terminal.talk("\(count) \(every == nil ? "readings" : "lines") in \(output)") }
    }

    private func write(_ chunks: ControlClient.Chunks, of span: Range<WallTime>) async throws -> Int {
        let file = try OutputFile(path: output)
        var progress = ExportProgress(span: span)
        var shown = ProgressLine()
        defer { shown.end() }
        do {
            try await chunks.forEach { chunk in
                try file.write(bytes: chunk.readableBytesView)
                if let text = progress.take(chunk.readableBytesView) { shown.show(text) }
            }
        } catch {
            if output != "-" { Terminal.talk("\(output) is not complete") }
            throw error
        }
        return max(0, progress.lines - (format == .csv ? 1 : 0))
    }
}

struct ExportProgress {
    let span: Range<WallTime>
    private(set) var lines = 0
    private var shownAt = 0

    init(span: Range<WallTime>) { self.span = span }

    /// Counts lines. Returns the progress every 10,000 lines; otherwise nil.
    mutating func take(_ bytes: some BidirectionalCollection<UInt8>) -> String? {
        for byte in bytes where byte == UInt8(ascii: "\n") { lines += 1 }
        guard lines - shownAt >= 10_000 else { return nil }
        shownAt = lines
        guard let part = part(of: bytes) else { return "\(lines) lines" }
        return "\(lines) lines, \(Int(part * 100)) %"
    }

    /// Returns the exported fraction of the span, 0 to 1; nil if the bytes contain no time.
    private func part(of bytes: some BidirectionalCollection<UInt8>) -> Double? {
        // Time of the last line: `2026-11-21T13:40:05.250Z`, after `{"time":"` in JSON.
        guard let end = bytes.dropLast().lastIndex(of: UInt8(ascii: "\n")) else { return nil }
        let line = bytes[bytes.index(after: end)...].drop { !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        guard let time = WallTime(String(decoding: line.prefix(24), as: UTF8.self)) else { return nil }
        let whole = Double(span.upperBound.millisecondsSince1970) - Double(span.lowerBound.millisecondsSince1970)
        let done = Double(time.millisecondsSince1970) - Double(span.lowerBound.millisecondsSince1970)
        return whole > 0 ? min(max(done / whole, 0), 1) : nil
    }
}
