/// Activity of the session, in the order of a run (Docs/Sync.md#a-run).
package enum SyncMode: String, Hashable, Sendable, CaseIterable {
    /// Not joined, or shut down.
    case stopped
    case idle
    /// A run failed and its retry is scheduled.
    case waiting
    /// Stopped until a person fixes the cause.
    case halted
    case readProgress
    case account
    case createZone
    case subscribe
    case modify
    case fetch
    case cleanUp
}

/// A job for the cloud or the store. Each case names the call and the input that reports its end. `cloudFailed` or
/// `storeFailed` ends any of them.
package enum SyncOperation: Hashable, Sendable {
    /// `SyncRepository.progress`; `progressRead`.
    case readProgress
    /// `CloudLink.account`; `accountChecked`.
    case checkAccount
    /// `CloudLink.createZone`; `zoneCreated`.
    case createZone(String)
    /// `SyncRepository.adopt`; `adopted`.
    case adopt(SyncZone, ZoneEntry)
    /// `SyncRepository.correct`; `corrected`.
    case correct(clockOffset: Duration)
    /// `SyncRepository.nextBatch`; `batchRead`.
    case readBatch(recordsMax: Int, bytesMax: Int, of: RecordKey? = nil)
    /// `CloudLink.modify`; `pushed`.
    case push(OutboxBatch)
    /// `SyncRepository.settle`; `settled`. The outcome has only final results: accepted, refused for good, or held back
    /// for lack of room. Other records stay in the outbox.
    case settle(OutboxBatch, PushOutcome)
    /// `SyncRepository.retryHeldBack`; `heldBackRetried`.
    case retryHeldBack(recordsMax: Int)
    /// `SyncRepository.restamp`, from the wall clock plus this offset; `restamped`.
    case restamp(clockOffset: Duration)
    /// `SyncRepository.beginRefetch`; `refetchBegun`.
    case beginRefetch(RecordType)
    /// `CloudLink.changes`; `pageFetched`.
    case fetch(RecordType, since: String?, limit: Int)
    /// `SyncRepository.apply`; `applied`.
    case apply(ChangesPage)
    /// `SyncRepository.cleanUp`; `cleanedUp`.
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

    /// Whether the operation stores a result that the cloud already gave, so that it runs even after a cancellation.
    var completesStep: Bool {
        switch self {
        case .settle, .restamp, .apply: true
        case .readProgress, .checkAccount, .createZone, .adopt, .correct, .readBatch, .push, .retryHeldBack,
            .beginRefetch, .fetch, .cleanUp:
            false
        }
    }

    /// Whether the cloud does the job, rather than the store.
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
    /// Perform the operation and report its end. Only one at a time.
    case perform(SyncOperation)
    /// `CloudLink.events`: report each event, and the end.
    case openEvents
    /// Close the stream; its end need not be reported.
    case closeEvents
    case announce(SyncResult)
    /// The session halted without a run, so that no result says so.
    case announceHalt(SyncHalt)
    /// For subscribers and the log.
    case log(SyncEntry)
}
