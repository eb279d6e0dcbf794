/// Why a run was asked for.
package enum SyncTrigger: String, Hashable, Sendable {
    case started
    /// Asked for by a person. Waits for nothing, and ends a halt.
    case asked
    /// Something waits in the outbox.
    case localChange
    case remoteChange
    /// The event stream is open; what happened before is unknown.
    case streamOpened
    /// The network is back to stay (`NetworkDebounce`), or the cloud answers another part of this host again after a
    /// failure.
    case networkGained
    case poll
    case retry
    case resumed
}

/// Something that happened outside the machine.
package enum SyncInput: Hashable, Sendable {
    // MARK: People, the host and time

    case started
    /// This host leaves the cloud or shuts down: like a cancellation, but nothing begins afterwards.
    case stopRequested
    /// The present page completes; finished work is kept.
    case cancelRequested
    /// The cause of the halt was fixed.
    case resumed
    case triggered(SyncTrigger)
    /// Time passed. Harmless to send at any moment.
    case woke

    // MARK: The event stream

    case streamOpened
    /// A sign of life: a ping, or something that does not concern the session.
    case streamHeard
    case streamBroke(SyncFailure)
    /// No `host` means several of them.
    case remoteChanged(types: [RecordType], host: HostID?)

    // MARK: Ends of operations

    case progressRead(SyncProgress)
    case accountChecked(CloudAccount, ClockSample)
    case zoneCreated
    case adopted
    case corrected
    /// Nil if the outbox is empty.
    case batchRead(OutboxBatch?)
    case pushed(PushOutcome, ClockSample)
    case settled(MergeOutcome)
    /// Number of held-back records that wait to be sent again.
    case heldBackRetried(Int)
    case restamped
    case refetchBegun
    case pageFetched(ChangesPage)
    case applied(MergeOutcome)
    case cleanedUp
    case cloudFailed(SyncFailure)
    /// The store's error message.
    case storeFailed(String)
}

/// Text for people, in `meterctl sync events`.
extension SyncInput: CustomStringConvertible {
    package var description: String {
        switch self {
        case .started: "started"
        case .stopRequested: "stop requested"
        case .cancelRequested: "cancel requested"
        case .resumed: "resumed"
        case .triggered(let trigger): "triggered: \(trigger.rawValue)"
        case .woke: "woke"
        case .streamOpened: "event stream opened"
        case .streamHeard: "event stream heard"
        case .streamBroke(let failure): "event stream broke: \(failure)"
        case .remoteChanged(let types, let host):
            "changed by \(host.map { "\($0)" } ?? "several hosts"): \(types.map(\.rawValue).joined(separator: " "))"
        case .progressRead(let progress): "progress read: \(progress.pending) to tell"
        case .accountChecked(let account, _): "account checked: zone \(account.zone), store \(account.epoch)"
        case .zoneCreated: "zone created"
        case .adopted: "store adopted"
        case .corrected: "clock offset passed to the store"
        case .batchRead(let batch): batch.map { "batch read: \($0.records.count) records" } ?? "outbox empty"
        case .pushed(let outcome, _): "pushed: \(outcome.results.count) answers"
        case .settled(let merge): "settled: \(merge.changed.count) changed here"
        case .heldBackRetried(let count): "\(count) records that were held back wait again"
        case .restamped: "outbox stamped anew"
        case .refetchBegun: "refetch begun"
        case .pageFetched(let page):
            "page fetched: \(page.records.count) of \(page.type.rawValue)\(page.moreComing ? ", more coming" : "")"
        case .applied(let merge):
            "page stored: \(merge.changed.count) changed, \(merge.unchanged) unchanged, \(merge.parked) parked"
        case .cleanedUp: "cleaned up"
        case .cloudFailed(let failure): "cloud failed: \(failure)"
        case .storeFailed(let message): "store failed: \(message)"
        }
    }
}
