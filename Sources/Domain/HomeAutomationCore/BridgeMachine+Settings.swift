extension BridgeMachine {
    /// Durations are on the boot-time clock.
    package struct Settings: Hashable, Sendable {
        package var topics: BrokerTopics
        package var version: String
        /// Former ids of this host's meters, whose retained messages are cleared.
        package var formerMeters: [MeterID] = []
        /// Time between two published readings of a meter.
        package var interval = Duration.seconds(5)
        package var backlog = Backlog.Limits()
        /// Timeout of name resolution, route, TLS and the broker's answer together.
        var openTimeout = Duration.seconds(30)
        /// Time without any acknowledgement after which the link is closed.
        package var answerTimeout = Duration.seconds(30)
        /// Minimum duration of a link that resets the retry pauses to `shortestWait`.
        var stableAfter = Duration.seconds(30)
        var goodbyeTimeout = Duration.seconds(2)
        /// Time between republications of messages that another host may have overwritten.
        var refreshInterval = Duration.seconds(60)
        /// Time until the first republication. It overwrites the last retained message of the meter's former host,
        /// which publishes that within a second or two.
        var firstRefresh = Duration.seconds(5)
        /// Minimum interval between two handled start messages of Home Assistant.
        var birthInterval = Duration.seconds(5)
        /// First pause between attempts; it doubles up to `longestWait`.
        var shortestWait = Duration.seconds(1)
        var longestWait = Duration.seconds(60)

        package init(topics: BrokerTopics, version: String) {
            self.topics = topics
            self.version = version
        }
    }
}
