import Logging

/// Keeps what the HTTP library says to developers out of the log: that it begins and ends, and, as an error, that a
/// connection was cut when the listener stopped.
struct FarewellFilter: LogHandler {
    private var base: Logger

    /// A logger of warnings and errors without farewells.
    static func quiet(_ logger: Logger) -> Logger {
        var quiet = Logger(label: logger.label) { _ in FarewellFilter(base: logger) }
        quiet.logLevel = max(logger.logLevel, .warning)
        return quiet
    }

    private init(base: Logger) {
        self.base = base
        logLevel = base.logLevel
    }

    var logLevel: Logger.Level
    var metadata: Logger.Metadata = [:]

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        guard !event.message.description.hasPrefix("Waiting on child channel") else { return }
        base.log(
            level: event.level, event.message, metadata: metadata.merging(event.metadata ?? [:]) { _, new in new },
            source: event.source, file: event.file, function: event.function, line: event.line)
    }
}
