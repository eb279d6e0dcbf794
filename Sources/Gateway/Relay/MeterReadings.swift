import Domain

/// Readings of one meter, from this host's session or through the cloud from the meter's holder. May switch between the
/// two.
package struct MeterReadings: Sendable {
    private enum Source: Sendable {
        /// Readings of this host's session, on a host without a cloud; ends with the session.
        case own(Feed<TimedReading>.Subscription)
        /// Readings from this host or the holder, until this host shuts down.
        case anywhere(Places)
    }

    struct Places: Sendable {
        /// Subscribes to this host's session; nil without one.
        let here: @Sendable () async -> Feed<TimedReading>.Subscription?
        /// Subscribes to another host's readings; nil while no other host has the meter.
        let elsewhere: @Sendable () async -> Feed<WatchedReading>.Subscription?
        let isOver: @Sendable () async -> Bool
        let pause: @Sendable () async -> Void
    }

    private let source: Source

    static func own(_ readings: Feed<TimedReading>.Subscription) -> MeterReadings {
        MeterReadings(source: .own(readings))
    }

    static func anywhere(_ places: Places) -> MeterReadings { MeterReadings(source: .anywhere(places)) }

    package func forEach(_ body: (WatchedReading) async throws -> Void) async throws {
        switch source {
        case .own(let readings):
            for await item in readings { try await body(WatchedReading(item)) }
        case .anywhere(let places):
            let feed = Feed<WatchedReading>()
            let all = feed.subscribe()
            // Subscribes before the tasks start, to miss no reading.
            let here = await places.here()
            try await withThrowingTaskGroup { group in
                group.addTask { await places.followHere(here, into: feed) }
                group.addTask { await places.followElsewhere(into: feed) }
                for await item in all { try await body(item.value.after(missing: item.missed)) }
                group.cancelAll()
            }
        }
    }
}

extension MeterReadings.Places {
    fileprivate func followHere(_ first: Feed<TimedReading>.Subscription?, into feed: Feed<WatchedReading>) async {
        var next = first
        while !Task.isCancelled {
            if let readings = next { for await item in readings { feed.yield(WatchedReading(item)) } }
            guard await !isOver() else { return feed.finish() }
            await pause()
            next = await here()
        }
    }

    fileprivate func followElsewhere(into feed: Feed<WatchedReading>) async {
        while !Task.isCancelled {
            if let readings = await elsewhere() {
                for await item in readings { feed.yield(item.value.after(missing: item.missed)) }
            }
            await pause()
        }
    }
}

extension WatchedReading {
    fileprivate init(_ item: Feed<TimedReading>.Item) {
        self.init(
            wallTime: item.value.wallTime, reading: item.value.reading,
            spread: item.value.spread, missed: item.missed)
    }

    fileprivate func after(missing count: Int) -> WatchedReading {
        var copy = self
        copy.missed += count
        return copy
    }
}
