package import SettingsCore

/// What the session does just now, in the order in which a run does it (Docs/Sync.md#a-run).
package enum SyncMode: String, Hashable, Sendable, CaseIterable {
    /// Not joined, or shut down.
    case stopped
    /// Nothing to do.
    case idle
    /// A run failed and the next attempt has its time.
    case waiting
    /// Until a person has fixed what is wrong.
    case halted
    case readProgress
    case account
    case createZone
    case subscribe
    case modify
    case fetch
    case cleanUp
}

/// One thing to be done, by the cloud or by the store. At most one is under way; its end is told by the input named
/// with it, or by `cloudFailed` or `storeFailed`.
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
    case readBatch(recordsMax: Int, bytesMax: Int)
    /// `CloudLink.modify`; `pushed`.
    case push(OutboxBatch)
    /// `SyncRepository.settle`; `settled`. The outcome holds only what is decided: taken, refused for good, or held back
    /// because there is no room for it. What it does not name stays in the outbox.
    case settle(OutboxBatch, PushOutcome)
    /// `SyncRepository.retryHeldBack`; `heldBackRetried`.
    case retryHeldBack(recordsMax: Int)
    /// `SyncRepository.restamp`, from the wall clock plus this offset on; `restamped`.
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

    /// Stores what the cloud already did or said: part of the present page, also of a run that was cancelled.
    var completesStep: Bool {
        switch self {
        case .settle, .restamp, .apply: true
        case .readProgress, .checkAccount, .createZone, .adopt, .correct, .readBatch, .push, .retryHeldBack,
            .beginRefetch, .fetch, .cleanUp:
            false
        }
    }

    /// Whether the cloud does it; otherwise the store.
    package var isExchange: Bool {
        switch self {
        case .checkAccount, .createZone, .push, .fetch: true
        case .readProgress, .adopt, .correct, .readBatch, .settle, .retryHeldBack, .restamp, .beginRefetch, .apply,
            .cleanUp:
            false
        }
    }
}

/// What the machine wants done.
package enum SyncEffect: Hashable, Sendable {
    /// Do it, and tell the machine how it ended. Never asked for while another is under way.
    case perform(SyncOperation)
    /// `CloudLink.events`: tell of each event, and of the end.
    case openEvents
    /// Let go of the stream; its end need not be told.
    case closeEvents
    /// A run is over.
    case announce(SyncResult)
    /// The session halted while there was no run whose result would say so.
    case announceHalt(SyncHalt)
    /// For those who watch, and for the log.
    case log(SyncEntry)
}
