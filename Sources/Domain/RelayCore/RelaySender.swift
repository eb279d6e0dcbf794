/// The holder's side of one watched meter: which readings go out, when, and under which token.
///
/// At most one batch is on its way. Readings that come meanwhile wait: a few as they are, more of them folded into one,
/// or, where an observer wants every one, up to `RelayTiming.readingsMax`, of which the newest stay.
package struct RelaySender: Sendable {
    package struct Parcel: Hashable, Sendable {
        package var token: FencingToken
        package var batch: RelayBatch

        package init(token: FencingToken, batch: RelayBatch) {
            self.token = token
            self.batch = batch
        }
    }

    /// How the sending of a batch ended.
    package enum Outcome: Hashable, Sendable {
        case taken
        /// The cloud knows another token: whoever sent the batch is not, or no longer, the holder.
        case refused
        case failed
    }

    /// While it lies ahead, somebody watches.
    package private(set) var until: MonotonicTime
    /// Whether an observer wants every reading.
    package private(set) var sendsAll: Bool
    private var waiting: [TimedReading] = []
    private var fold: ReadingFold?
    private var missed = 0
    private var token: FencingToken?
    /// A token that the cloud refused. Nothing more is sent under it.
    private var refused: FencingToken?
    private var isSending = false
    private var readyAt = MonotonicTime.origin
    /// The state told last.
    private var toldState: String?
    private var stateReadyAt = MonotonicTime.origin

    package init(until: MonotonicTime, sendsAll: Bool) {
        self.until = until
        self.sendsAll = sendsAll
    }

    /// Somebody watches, or still does.
    ///
    /// - Parameter until: an earlier time than before counts too: nobody watches any more.
    package mutating func interested(until: MonotonicTime, sendsAll: Bool) {
        self.until = until
        self.sendsAll = sendsAll
    }

    /// The meter brought a reading.
    ///
    /// - Parameter token: of the lease under which the meter is held now; nil without one. Readings do not wait for
    ///   another one.
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

    /// Readings of the meter were dropped before they came here.
    package mutating func lost(_ count: Int) { missed += count }

    /// The batch that is due now, if one is.
    ///
    /// - Parameters:
    ///   - token: of the lease under which the meter is held now.
    ///   - state: the meter's. A new one is told without a reading too, at most every `RelayTiming.stateInterval`.
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

    /// The batch sent last arrived, or did not.
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

    /// When to ask for the next batch; nil while nothing waits, or one is on its way.
    package var nextWake: MonotonicTime? { isSending || !hasSome ? nil : readyAt }

    /// What was measured under another token is dropped.
    ///
    /// - Returns: whether readings may be sent under this one.
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
