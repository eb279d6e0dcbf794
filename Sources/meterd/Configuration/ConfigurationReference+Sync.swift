extension ConfigurationReference {
    static let sync = Table(
        name: "sync",
        explanation: "How much the sync engine does at once and how long it waits. The defaults suit a home and a "
            + "laboratory.",
        keys: [
            Key(
                name: "poll-interval", value: #""5m""#,
                explanation: "Without a change told by the cloud for so long, changes are asked for. 10s to 24h."),
            Key(
                name: "retry-first", value: #""1s""#,
                explanation: "The longest wait after the first failure; it doubles with each further one. 100ms to 1m."),
            Key(name: "retry-longest", value: #""5m""#, explanation: "Where the doubling ends. 5s to 1h."),
            Key(
                name: "rate-limit-longest", value: #""1h""#,
                explanation: "The longest that the cloud may make this host wait. 1m to 24h."),
            Key(
                name: "subscribe-timeout", value: #""5s""#,
                explanation: "A run waits so long for the event stream to open, then goes on without it. 1s to 1m."),
            Key(
                name: "stream-silence", value: #""45s""#,
                explanation: "An event stream that says nothing for so long is dead; the cloud says something every "
                    + "15 s. 35s to 10m."),
            Key(
                name: "clean-up-interval", value: #""1h""#,
                explanation: "Expired deletions and old history are looked for at most so often. 10m to 168h."),
            Key(name: "page-records", value: "400", explanation: "Records in one page of changes. 1 to 400."),
            Key(name: "batch-records", value: "400", explanation: "Records in one batch that is told. 1 to 400."),
            Key(name: "batch-kilobytes", value: "1024", explanation: "How long one batch may be. 64 to 1024."),
        ])
}
