package import MeterModel
package import SettingsCore

/// Why a run was asked for.
package enum SyncTrigger: String, Hashable, Sendable {
    case started
    /// By a person. Waits for nothing, and ends a halt.
    case asked
    /// Something waits in the outbox.
    case localChange
    case remoteChange
    /// The event stream is open, and what happened before is unknown.
    case streamOpened
    /// The network is back and stayed (`NetworkDebounce`), or the cloud answers others again that it did not answer.
    case networkGained
    case poll
    case retry
    case resumed
}

/// Everything that can happen to the session.
package enum SyncEvent: Hashable, Sendable {
    // MARK: From outside

    case started
    /// Leaving the cloud, or shutting down: as cancelling, and nothing begins afterwards.
    case stopRequested
    /// The present page completes; what is done stays done.
    case cancelRequested
    /// What halted the session was fixed.
    case resumed
    case triggered(SyncTrigger)
    /// Time passed. Harmless at any moment.
    case woke

    // MARK: The event stream

    case streamOpened
    /// It lives: a ping, or something that is nothing to the session.
    case streamHeard
    case streamBroke(SyncFailure)
    /// nil means several hosts.
    case remoteChanged(types: [RecordType], host: HostID?)

    // MARK: Ends of operations

    case progressRead(SyncProgress)
    case accountChecked(CloudAccount, ClockSample)
    case zoneCreated
    case adopted
    case corrected
    /// nil means the outbox is empty.
    case batchRead(OutboxBatch?)
    case pushed(PushOutcome, ClockSample)
    case settled(MergeOutcome)
    /// So many records that were held back wait again.
    case heldBackRetried(Int)
    case restamped
    case refetchBegun
    case pageFetched(ChangesPage)
    case applied(MergeOutcome)
    case cleanedUp
    case cloudFailed(SyncFailure)
    /// The store's words.
    case storeFailed(String)

    // MARK: What middlewares make of a failure

    /// A batch was too large, or has something in it that cannot be read: its halves go one after the other.
    case split(OutboxBatch, OutboxBatch, because: SyncFailure)
    /// A batch of one record that the cloud will never take.
    case refused(OutboxBatch, because: SyncFailure)
    /// A page was too large; the next is asked for with so many records.
    case pageShortened(limit: Int)
    case halted(SyncHalt)
    case zoneMissing(SyncFailure)
    /// Below the floor of purged tombstones.
    case tokenExpired(RecordType)
    /// A backup was restored.
    case storeReplaced(epoch: String)
    /// The cloud's store lacks changes that this host has seen: a copy of it was put back.
    case storeWentBack
    /// The cloud answered for another zone than it said before: it is asked again which one this is.
    case zoneDoubted
    /// The whole batch, as too far ahead.
    case stampsRefused
    /// The run is over for now. Becomes `postponed`.
    case interrupted(SyncFailure)
    /// The run is over for now and is tried again at `until`.
    case postponed(SyncFailure, until: MonotonicTime)
    /// Something failed after the run was cancelled, which is no failure.
    case abandoned
}

/// An event with its number.
package struct SyncEntry: Hashable, Sendable {
    /// From 1 on, without a gap, as long as the session lives.
    package var number: UInt64
    package var time: MonotonicTime
    /// By this host's calendar, which the machine does not know: set by whoever passes the entry on.
    package var wall: WallTime?
    package var event: SyncEvent

    package init(number: UInt64, time: MonotonicTime, wall: WallTime? = nil, event: SyncEvent) {
        self.number = number
        self.time = time
        self.wall = wall
        self.event = event
    }
}
