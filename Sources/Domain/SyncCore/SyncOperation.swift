/// What the session is doing now, in the order in which a run does it (Docs/Sync.md#a-run).
package enum SyncMode: String, Hashable, Sendable, CaseIterable {
    /// Not joined, or shut down.
    case stopped
    /// Nothing to do.
    case idle
    /// A run failed, and the time of the next attempt is set.
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

/// One job for the cloud or the store. At most one is under way; its end is reported by the input named with it, or by
/// `cloudFailed` or `storeFailed`.
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
    /// `SyncRepository.settle`; `settled`. The outcome has only results that are decided: accepted, refused for good,
    /// or held back for lack of room. Whatever it does not name stays in the outbox.
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

    /// Whether it stores what the cloud has already done or said, and so belongs to the present page even if the run
    /// was cancelled.
    var completesStep: Bool {
        switch self {
        case .settle, .restamp, .apply: true
        case .readProgress, .checkAccount, .createZone, .adopt, .correct, .readBatch, .push, .retryHeldBack,
            .beginRefetch, .fetch, .cleanUp:
            false
        }
    }

    /// Whether the cloud does it, rather than the store.
    package var isExchange: Bool {
        switch self {
        case .checkAccount, .createZone, .push, .fetch: true
        case .readProgress, .adopt, .correct, .readBatch, .settle, .retryHeldBack, .restamp, .beginRefetch, .apply,
            .cleanUp:
            false
        }
    }
}

/// Something the machine wants done.
package enum SyncEffect: Hashable, Sendable {
    /// Do it, and report to the machine how it ended. Never asked for while another is under way.
    case perform(SyncOperation)
    /// `CloudLink.events`: report each event, and the end.
    case openEvents
    /// Let go of the stream; its end need not be reported.
    case closeEvents
    /// A run is over.
    case announce(SyncResult)
    /// The session halted with no run under way whose result would say so.
    case announceHalt(SyncHalt)
    /// For those who watch, and for the log.
    case log(SyncEntry)
}
