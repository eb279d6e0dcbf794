import MeterModel
import SyncCore
import TOMLKit

extension ConfigurationFile {
    /// How much the sync engine does at once, and how long it waits.
    func applySync(_ sync: TOMLTable, to timing: inout SyncTiming) throws(ConfigurationError) {
        try checkKeys(of: sync, in: "sync")
        for key in SyncKeys.times {
            guard let time = try time(key.name, in: sync, "sync.", legal: key.legal) else { continue }
            timing[keyPath: key.field] = time
        }
        if let records = try integer("page-records", in: sync, "sync.", legal: SyncKeys.records) {
            timing.pageRecordsMax = records
        }
        if let records = try integer("batch-records", in: sync, "sync.", legal: SyncKeys.records) {
            timing.batchRecordsMax = records
        }
        if let size = try integer("batch-kilobytes", in: sync, "sync.", legal: SyncKeys.kilobytes) {
            timing.batchBytesMax = size * 1024
        }
        guard timing.backoff.base <= timing.backoff.ceiling else {
            throw ConfigurationError(
                "\(path): sync.retry-first is longer than sync.retry-longest", next: "make it shorter")
        }
    }
}

/// The keys of the table, with their legal ranges.
enum SyncKeys {
    struct Time {
        var name: String
        var field: any WritableKeyPath<SyncTiming, Duration> & Sendable
        var legal: ClosedRange<Duration>
    }

    /// A page or batch of the cloud has at most 400 records, and 1 MiB.
    static let records = 1...400
    static let kilobytes = 64...1024

    static let times = [
        Time(name: "poll-interval", field: \.pollInterval, legal: .seconds(10)...(.seconds(86_400))),
        Time(name: "retry-first", field: \.backoff.base, legal: .milliseconds(100)...(.seconds(60))),
        Time(name: "retry-longest", field: \.backoff.ceiling, legal: .seconds(5)...(.seconds(3600))),
        Time(name: "rate-limit-longest", field: \.rateLimitWaitMax, legal: .seconds(60)...(.seconds(86_400))),
        Time(name: "subscribe-timeout", field: \.subscribeTimeout, legal: .seconds(1)...(.seconds(60))),
        // The cloud pings every 15 s; two pings may be late.
        Time(name: "stream-silence", field: \.streamSilence, legal: .seconds(35)...(.seconds(600))),
        Time(name: "clean-up-interval", field: \.cleanUpInterval, legal: .seconds(600)...(.seconds(7 * 86_400))),
    ]
}
