package import Logging
import Synchronization

package final class LogBook: Sendable {
    package struct Entry: Hashable, Sendable {
        package var level: Logger.Level
        package var message: String
        package var values: [String: String]
    }

    private let kept = Mutex<[Entry]>([])

    package init() {}

    package var entries: [Entry] { kept.withLock { $0 } }

    package func entries(saying message: String) -> [Entry] { entries.filter { $0.message == message } }

    /// A logger that writes to this log book, from level `trace` up.
    package var logger: Logger {
        var logger = Logger(label: "test") { _ in Handler(book: self) }
        logger.logLevel = .trace
        return logger
    }

    private struct Handler: LogHandler {
        let book: LogBook
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.trace

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let values = metadata.merging(event.metadata ?? [:]) { _, new in new }
            let entry = Entry(
                level: event.level, message: "\(event.message)", values: values.mapValues { "\($0)" })
            book.kept.withLock { $0.append(entry) }
        }
    }
}
