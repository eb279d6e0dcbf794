import Domain

extension ConfigurationKeys {
    /// A page or batch of the cloud has at most 400 records, and 1 MiB.
    private static let records = 1...400

    static let sync = ConfigurationTable(
        "sync",
        "How much the sync engine does at once and how long it waits. The defaults suit a home and a laboratory.",
        defaults: SyncTiming(),
        keys: [
            .init(
                "poll-interval", \.pollInterval, .time(.seconds(10) ... .seconds(86_400)),
                "Without a change told by the cloud for so long, changes are asked for. {range}."),
            .init(
                "retry-first", \.backoff.base, .time(.milliseconds(100) ... .seconds(60)),
                "The longest wait after the first failure; it doubles with each further one. {range}."),
            .init(
                "retry-longest", \.backoff.ceiling, .time(.seconds(5) ... .seconds(3600)),
                "Where the doubling ends. {range}."),
            .init(
                "rate-limit-longest", \.rateLimitWaitMax, .time(.seconds(60) ... .seconds(86_400)),
                "The longest that the cloud may make this host wait. {range}."),
            .init(
                "subscribe-timeout", \.subscribeTimeout, .time(.seconds(1) ... .seconds(60)),
                "A run waits so long for the event stream to open, then goes on without it. {range}."),
            // Two pings of the cloud may be late.
            .init(
                "stream-silence", \.streamSilence, .time(.seconds(35) ... .seconds(600)),
                "An event stream that says nothing for so long is dead; the cloud says something every 15 s. {range}."),
            .init(
                "clean-up-interval", \.cleanUpInterval, .time(.seconds(600) ... .seconds(7 * 86_400)),
                "Expired deletions and old history are looked for at most so often. {range}."),
            .init("page-records", \.pageRecordsMax, .integer(records), "Records in one page of changes. {range}."),
            .init("batch-records", \.batchRecordsMax, .integer(records), "Records in one batch that is told. {range}."),
            .init("batch-kilobytes", \.batchKilobytesMax, .integer(64...1024), "How long one batch may be. {range}."),
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
