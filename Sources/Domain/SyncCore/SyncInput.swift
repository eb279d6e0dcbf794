package enum SyncTrigger: String, Hashable, Sendable {
    case started
    /// A person requested the run. It starts immediately and ends a halt.
    case asked
    case localChange
    case remoteChange
    /// The event stream opened. It does not report earlier changes, so the run fetches them.
    case streamOpened
    /// The network is stable again (`NetworkDebounce`), or the cloud answers this host's lease requests again.
    case networkGained
    case poll
    case retry
    case resumed
}

package enum SyncInput: Hashable, Sendable {
    // MARK: People, the host and time

    case started
    /// The host leaves the cloud or shuts down. Like a cancellation, but no run follows.
    case stopRequested
    /// A person cancels the run. The present page completes, and finished work is kept.
    case cancelRequested
    case resumed
    case triggered(SyncTrigger)
    case woke

    // MARK: The event stream

    case streamOpened
    /// The event stream received a ping, or an event for other hosts.
    case streamHeard
    case streamBroke(SyncFailure)
    /// Other hosts changed records of these types; `host` is nil if there were several.
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
    /// Number of held-back records that are in the outbox again.
    case heldBackRetried(Int)
    case restamped
    case refetchBegun
    case pageFetched(ChangesPage)
    case applied(MergeOutcome)
    case cleanedUp
    case cloudFailed(SyncFailure)
    case storeFailed(String)
}

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
