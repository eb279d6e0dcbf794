import Domain

extension ConfigurationKeys {
    /// Legal number of records in a page or batch. The cloud's limit is 400 records and 1 MiB.
    private static let records = 1...400

    static let sync = ConfigurationTable(
        "sync", "Sizes and times of sync. The defaults suit a home and a laboratory.",
        defaults: SyncTiming(),
        keys: [
            .init(
                "poll-interval", \.pollInterval, .time(.seconds(10) ... .seconds(86_400)),
                "Time without news from the cloud, after which meterd asks for changes. {range}."),
            .init(
                "retry-first", \.backoff.base, .time(.milliseconds(100) ... .seconds(60)),
                "Longest wait after the first failure; each further one doubles it. {range}."),
            .init(
                "retry-longest", \.backoff.ceiling, .time(.seconds(5) ... .seconds(3600)),
                "Where the doubling ends. {range}."),
            .init(
                "rate-limit-longest", \.rateLimitWaitMax, .time(.seconds(60) ... .seconds(86_400)),
                "Longest wait that the cloud may demand. {range}."),
            .init(
                "subscribe-timeout", \.subscribeTimeout, .time(.seconds(1) ... .seconds(60)),
                "How long a run waits for the event stream to open. {range}."),
            // The minimum of 35 s tolerates two late pings of the cloud.
            .init(
                "stream-silence", \.streamSilence, .time(.seconds(35) ... .seconds(600)),
                "Silence after which an event stream is dead; the cloud speaks every 15 s. {range}."),
            .init(
                "clean-up-interval", \.cleanUpInterval, .time(.seconds(600) ... .seconds(7 * 86_400)),
                "Shortest time between removals of expired deletions and old history. {range}."),
            .init("page-records", \.pageRecordsMax, .integer(records), "Records in one page of changes. {range}."),
            .init("batch-records", \.batchRecordsMax, .integer(records), "Records in one batch. {range}."),
            .init("batch-kilobytes", \.batchKilobytesMax, .integer(64...1024), "Size of one batch. {range}."),
        ])

    static func check(_ timing: SyncTiming) throws(ConfigurationError) {
        guard timing.backoff.base <= timing.backoff.ceiling else {
            throw ConfigurationError("sync.retry-first is longer than sync.retry-longest", next: "make it shorter")
        }
    }
}

extension SyncTiming {
    fileprivate var batchKilobytesMax: Int {
        get { batchBytesMax / 1024 }
        set { batchBytesMax = newValue * 1024 }
    }
}
