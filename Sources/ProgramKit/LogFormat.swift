import Domain
import Glibc
import LinuxIO
package import Logging

/// Writes one line for each log message to stderr: time, level, message, metadata. Omits the time under systemd, which
/// adds its own.
///
/// `2026-11-21T14:24:24.326Z info  meter state changed meter.id=… from=ready to=communicating cause="request sent"`.
package struct LogFormat: LogHandler {
    package var metadata: Logger.Metadata = [:]
    package var logLevel: Logger.Level = .info
    private let stampsTime: Bool

    package init(stampsTime: Bool) { self.stampsTime = stampsTime }

    package static func bootstrap() {
        let stampsTime = getenv("JOURNAL_STREAM") == nil
        LoggingSystem.bootstrap { _ in LogFormat(stampsTime: stampsTime) }
    }

    package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    package func log(event: LogEvent) {
        // One write per line, so that lines of two threads never mix. A failure cannot be reported anywhere.
        _ = Array(line(for: event).utf8).withUnsafeBytes { write(2, $0.baseAddress, $0.count) }
    }

    func line(for event: LogEvent) -> String {
        let values = metadata.merging(event.metadata ?? [:]) { _, new in new }
        var line = stampsTime ? "\(LinuxClock.wallNow) " : ""
        line += "\(event.level.rawValue.padded(to: 5)) \("\(event.message)".visible)"
        for (key, value) in values.sorted(by: { Self.rank($0.key) < Self.rank($1.key) }) {
            line += " \(key)=\("\(value)".quotedIfNeeded)"
        }
        return line + "\n"
    }

    /// Sort key for metadata: the meter first, the cause last.
    private static func rank(_ key: String) -> String {
        switch key {
        case "meter.id": " "
        case "cause": "~"
        default: key
        }
    }
}

extension String {
    fileprivate func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }

    fileprivate var quotedIfNeeded: String {
        let needsQuotes = isEmpty || contains { $0 == " " || $0 == "\"" || $0 == "=" }
        return needsQuotes ? "\"\(visible.replacing("\"", with: "'"))\"" : visible
    }
}
