package import MeterModel

/// Tells those who watch of every event, with its number and with the meaning that it has by now.
package struct LoggingMiddleware: SyncMiddleware {
    package let name = "logging"

    package init() {}

    package func effects(of event: SyncEvent, number: UInt64, at now: MonotonicTime) -> [SyncEffect] {
        [.log(SyncEntry(number: number, time: now, event: event))]
    }
}
