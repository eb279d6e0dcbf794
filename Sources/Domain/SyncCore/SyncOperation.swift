/// Activity of the sync session, in the order of a run (Docs/Sync.md#a-run).
package enum SyncMode: String, Hashable, Sendable, CaseIterable {
    /// The host has not joined a cloud, or is shut down.
    case stopped
    case idle
    /// A run failed, and its retry is scheduled.
    case waiting
    case halted
    case readProgress
    case account
    case createZone
    case subscribe
    case modify
    case fetch
    case cleanUp
}

/// An operation on the cloud or the store. Each case's comment names the method and the input that reports its end.
/// `cloudFailed` or `storeFailed` can end any operation.
package enum SyncOperation: Hashable, Sendable {
    /// Calls `SyncRepository.progress`; ends with `progressRead`.
    case readProgress
    /// Calls `CloudLink.account`; ends with `accountChecked`.
    case checkAccount
    /// Calls `CloudLink.createZone`; ends with `zoneCreated`.
    case createZone(String)
    /// Calls `SyncRepository.adopt`; ends with `adopted`.
    case adopt(SyncZone, ZoneEntry)
    /// Calls `SyncRepository.correct`; ends with `corrected`.
    case correct(clockOffset: Duration)
    /// Calls `SyncRepository.nextBatch`; ends with `batchRead`.
    case readBatch(recordsMax: Int, bytesMax: Int, of: RecordKey? = nil)
    /// Calls `CloudLink.modify`; ends with `pushed`.
    case push(OutboxBatch)
    /// Calls `SyncRepository.settle`; ends with `settled`. The outcome has only final results: accepted, permanently
    /// refused, or held back for lack of room.
    case settle(OutboxBatch, PushOutcome)
    /// Calls `SyncRepository.retryHeldBack`; ends with `heldBackRetried`.
    case retryHeldBack(recordsMax: Int)
    /// Calls `SyncRepository.restamp` with the wall clock plus this offset; ends with `restamped`.
    case restamp(clockOffset: Duration)
    /// Calls `SyncRepository.beginRefetch`; ends with `refetchBegun`.
    case beginRefetch(RecordType)
    /// Calls `CloudLink.changes`; ends with `pageFetched`.
    case fetch(RecordType, since: String?, limit: Int)
    /// Calls `SyncRepository.apply`; ends with `applied`.
    case apply(ChangesPage)
    /// Calls `SyncRepository.cleanUp`; ends with `cleanedUp`.
    case cleanUp

    package var mode: SyncMode {
        switch self {
        case .readProgress: .readProgress
        case .checkAccount: .account
        case .createZone: .createZone
        case .adopt, .beginRefetch, .fetch, .apply: .fetch
        case .correct, .readBatch, .push, .settle, .retryHeldBack, .restamp: .modify
        case .cleanUp: .cleanUp
        }
    }

    /// Whether the operation stores a result that the cloud has already returned. It then runs even after a
    /// cancellation.
    var completesStep: Bool {
        switch self {
        case .settle, .restamp, .apply: true
        case .readProgress, .checkAccount, .createZone, .adopt, .correct, .readBatch, .push, .retryHeldBack,
            .beginRefetch, .fetch, .cleanUp:
            false
        }
    }

    /// True for operations of the cloud, false for those of the store.
    package var isExchange: Bool {
        switch self {
        case .checkAccount, .createZone, .push, .fetch: true
        case .readProgress, .adopt, .correct, .readBatch, .settle, .retryHeldBack, .restamp, .beginRefetch, .apply,
            .cleanUp:
            false
        }
    }
}

package enum SyncEffect: Hashable, Sendable {
    /// Perform the operation. At most one runs at a time.
    case perform(SyncOperation)
    /// Open `CloudLink.events`. Report each event and the end.
    case openEvents
    /// Close the event stream. Its end need not be reported.
    case closeEvents
    case announce(SyncResult)
    /// Announce a halt outside a run; no `SyncResult` reports it.
    case announceHalt(SyncHalt)
    case log(SyncEntry)
}
