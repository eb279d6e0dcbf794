extension BridgeMachine {
    /// The machine's settings. Durations are on the boot-time clock.
    package struct Settings: Hashable, Sendable {
        package var topics: BrokerTopics
        /// The program's version.
        package var version: String
        /// Former ids of this host's meters. What the broker keeps under them is cleared.
        package var formerMeters: [MeterID] = []
        /// How often to publish a meter's reading.
        package var interval = Duration.seconds(5)
        package var backlog = Backlog.Limits()
        /// How long an attempt may take, including name, route, TLS and the broker's answer.
        var openTimeout = Duration.seconds(30)
        /// How long a broker may confirm nothing before it is given up.
        package var answerTimeout = Duration.seconds(30)
        /// How long a link must last for the next attempt after it to come soon.
        var stableAfter = Duration.seconds(30)
        /// How long the last message to the broker may take.
        var goodbyeTimeout = Duration.seconds(2)
        /// How often to publish again what others may have overwritten in the meantime.
        var refreshInterval = Duration.seconds(60)
        /// How soon to do so the first time: the meter's former host publishes its last message within a second or two,
        /// and the broker keeps that.
        var firstRefresh = Duration.seconds(5)
        /// Home Assistant's message that it has started counts once in this time.
        var birthInterval = Duration.seconds(5)
        /// Pause before the first attempts, which doubles up to the longest.
        var shortestWait = Duration.seconds(1)
        var longestWait = Duration.seconds(60)

        package init(topics: BrokerTopics, version: String) {
            self.topics = topics
            self.version = version
        }
    }
}
