package import Logging

/// Drops the HTTP library's messages about its own start and stop, and about connections or listeners closed during
/// shutdown.
package struct LibraryLogFilter: LogHandler {
    private var base: Logger

    package static func quiet(_ logger: Logger) -> Logger {
        var quiet = Logger(label: logger.label) { _ in LibraryLogFilter(base: logger) }
        quiet.logLevel = max(logger.logLevel, .warning)
        return quiet
    }

    private static let farewells = ["Waiting on child channel", "Server shutdown error: Already closed"]

    private init(base: Logger) {
        self.base = base
        logLevel = base.logLevel
    }

    package var logLevel: Logger.Level
    package var metadata: Logger.Metadata = [:]

    package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    package func log(event: LogEvent) {
        let message = event.message.description
        guard !Self.farewells.contains(where: message.hasPrefix) else { return }
        base.log(
            level: event.level, event.message, metadata: metadata.merging(event.metadata ?? [:]) { _, new in new },
            source: event.source, file: event.file, function: event.function, line: event.line)
    }
}
