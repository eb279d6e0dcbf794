/// Sends one watched meter's readings from its holder to the cloud.
///
/// At most one batch is in flight. Up to `RelayTiming.singlesMax` further readings wait unchanged; if there are more,
/// all are combined into one. If an observer wants every reading, the newest `RelayTiming.readingsMax` wait.
package struct RelaySender: Sendable {
    package struct Parcel: Hashable, Sendable {
        package var token: FencingToken
        package var batch: RelayBatch

        package init(token: FencingToken, batch: RelayBatch) {
            self.token = token
            self.batch = batch
        }
    }

    package enum Outcome: Hashable, Sendable {
        case taken
        /// The cloud has another token, so this host does not hold the lease.
        case refused
        case failed
    }

    /// Time until which an observer watches.
    package private(set) var until: MonotonicTime
    /// Whether an observer wants every reading.
    package private(set) var sendsAll: Bool
    private var waiting: [TimedReading] = []
    private var fold: ReadingFold?
    private var missed = 0
    private var token: FencingToken?
    /// Token that the cloud refused, and that is therefore never used again.
    private var refused: FencingToken?
    private var isSending = false
    private var readyAt = MonotonicTime.origin
    private var toldState: String?
    private var stateReadyAt = MonotonicTime.origin

    package init(until: MonotonicTime, sendsAll: Bool) {
        self.until = until
        self.sendsAll = sendsAll
    }

    /// - Parameter until: end of the interest; earlier than before if the last observer has stopped.
    package mutating func interested(until: MonotonicTime, sendsAll: Bool) {
        self.until = until
        self.sendsAll = sendsAll
    }

    /// - Parameter token: of the present lease; nil without one. A change drops waiting readings.
    package mutating func received(_ reading: TimedReading, under token: FencingToken?) {
        guard hold(token) else { return }
        if sendsAll {
            waiting.append(reading)
            guard waiting.count > RelayTiming.readingsMax else { return }
            missed += waiting.removeFirst().spread?.count ?? 1
        } else if fold != nil {
            fold?.add(reading)
        } else {
            waiting.append(reading)
            guard waiting.count > RelayTiming.singlesMax else { return }
            var fold = ReadingFold(waiting[0])
            for earlier in waiting.dropFirst() { fold.add(earlier) }
            self.fold = fold
            waiting = []
        }
    }

    package mutating func lost(_ count: Int) { missed += count }

    /// Returns the next batch; nil if there is nothing to send now.
    ///
    /// - Parameters:
    ///   - token: of the present lease.
    ///   - state: a new state is sent even without readings, at most every `RelayTiming.stateInterval`.
    package mutating func next(
        under token: FencingToken?, model: String? = nil, state: String? = nil, at now: MonotonicTime
    ) -> Parcel? {
        guard hold(token), let token, now < until else {
            drop()
            return nil
        }
        let tellsState = state != toldState && now >= stateReadyAt
        guard !isSending, now >= readyAt, hasSome || tellsState else { return nil }
        let readings =
            waiting.map {
                RelayReading(
                    age: max(.zero, now - $0.time), wallTime: $0.wallTime, reading: $0.reading,
                    spread: $0.spread)
            } + (fold.map { [$0.folded(at: now)] } ?? [])
        var batch = RelayBatch(at: now, missed: missed, readings: readings)
        batch.model = model
        batch.state = state
        toldState = state
        stateReadyAt = now + RelayTiming.stateInterval
        drop()
        isSending = true
        readyAt = now + RelayTiming.batchInterval
        return Parcel(token: token, batch: batch)
    }

    package mutating func sent(_ parcel: Parcel, _ outcome: Outcome, at now: MonotonicTime) {
        isSending = false
        switch outcome {
        case .taken: break
        case .refused: refused = parcel.token
        case .failed:
            toldState = nil
            missed += parcel.batch.missed + parcel.batch.readings.reduce(0) { $0 + ($1.spread?.count ?? 1) }
            readyAt = max(readyAt, now + RelayTiming.retryInterval)
        }
    }

    /// Nil while no reading waits, or while a batch is in flight.
    package var nextWake: MonotonicTime? { isSending || !hasSome ? nil : readyAt }

    /// Drops waiting readings if the token has changed. Returns whether it may be used.
    private mutating func hold(_ token: FencingToken?) -> Bool {
        if token != self.token {
            drop()
            self.token = token
        }
        return token != nil && token != refused
    }

    private var hasSome: Bool { !waiting.isEmpty || fold != nil }

    private mutating func drop() {
        waiting = []
        fold = nil
        missed = 0
    }
}
