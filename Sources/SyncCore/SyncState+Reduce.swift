import MeterModel
import SettingsCore

extension SyncState {
    /// What an event changes, and what must be done at once. Which operation comes next, the middlewares say.
    mutating func reduce(_ event: SyncEvent, _ moment: SyncMoment) -> [SyncEffect] {
        let now = moment.now
        switch event {
        case .started: start(at: now)
        case .stopRequested: return stop()
        case .cancelRequested: cancel()
        case .resumed: resume(because: .resumed)
        case .triggered(let trigger): return self.trigger(trigger, at: now)
        case .woke: return wake(moment)
        case .streamOpened: streamOpened(at: now)
        case .streamHeard: streamHeard(at: now)
        case .streamBroke: streamBroke(moment)
        case .remoteChanged(let types, let host): remoteChanged(types, by: host, at: now)
        case .halted(let halt): return self.halt(halt, at: now)
        case .postponed(let failure, let until): return postpone(failure, until: until, at: now)
        default: reduceOperation(event, at: now)
        }
        return []
    }

    private mutating func reduceOperation(_ event: SyncEvent, at now: MonotonicTime) {
        switch event {
        case .progressRead(let progress): progressRead(progress)
        case .accountChecked(let account, let sample): accountChecked(account, sample, at: now)
        case .zoneCreated: zoneCreated()
        case .adopted: adopted()
        case .corrected: corrected()
        case .batchRead(let batch): batchRead(batch)
        case .pushed(let outcome, let sample): pushed(outcome, sample, at: now)
        case .settled(let merge): settled(merge)
        case .heldBackRetried(let count): heldBackRetried(count)
        case .restamped: restamped()
        case .refetchBegun: refetchBegun()
        case .pageFetched(let page): pageFetched(page)
        case .applied(let merge): applied(merge)
        case .cleanedUp: cleanedUp(at: now)
        case .split(let first, let second, _): split(first, second)
        case .refused(let batch, let failure): refuse(batch, because: failure)
        case .pageShortened(let limit):
            repair()
            withRun { $0.pageRecordsMax = limit }
        case .zoneMissing: zoneWentMissing()
        case .tokenExpired(let type): repair([.beginRefetch(type)])
        case .storeReplaced(let epoch): storeReplaced(epoch: epoch)
        case .storeWentBack: storeWentBack()
        case .zoneDoubted: zoneDoubted()
        case .stampsRefused: repair([restamping])
        case .abandoned: repair()
        // The middlewares have turned every failure into one of the above; the others are `reduce`'s.
        case .cloudFailed, .storeFailed, .interrupted, .started, .stopRequested, .cancelRequested, .resumed,
            .triggered, .woke, .streamOpened, .streamHeard, .streamBroke, .remoteChanged, .halted, .postponed:
            break
        }
    }
}
