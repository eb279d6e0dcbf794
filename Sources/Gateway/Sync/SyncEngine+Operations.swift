import Domain
import Logging

/// Performs one operation of `SyncMachine`; returns the input that reports its end.
extension SyncEngine {
    nonisolated func exchange(_ operation: SyncOperation) async -> SyncInput {
        do throws(SyncFailure) {
            switch operation {
            case .checkAccount:
                let begun = dependencies.loop.now
                let account = try await dependencies.link.account()
                return .accountChecked(account, sample(account.serverTime, since: begun))
            case .createZone(let zone):
                try await dependencies.link.createZone(zone, id: await identity(of: zone))
                return .zoneCreated
            case .push(let batch):
                let begun = dependencies.loop.now
                let outcome = try await dependencies.link.modify(batch)
                return .pushed(outcome, sample(outcome.serverTime, since: begun))
            case .fetch(let type, let since, let limit):
                return .pageFetched(try await dependencies.link.changes(of: type, since: since, limit: limit))
            case .readProgress, .adopt, .correct, .readBatch, .settle, .retryHeldBack, .restamp, .beginRefetch, .apply,
                .cleanUp:
                return await store(operation)
            }
        } catch {
            return .cloudFailed(error)
        }
    }

    nonisolated func store(_ operation: SyncOperation) async -> SyncInput {
        let repository = dependencies.repository
        do {
            switch operation {
            case .readProgress: return .progressRead(try await repository.progress())
            case .adopt(let zone, let entry):
                try await repository.adopt(zone, entry)
                logEntry(zone, entry, try await repository.progress())
                return .adopted
            case .correct(let offset):
                let moment = HostMoment(wall: dependencies.loop.wallNow, sinceBoot: dependencies.loop.now)
                try await repository.correct(clockOffset: offset, at: moment)
                return .corrected
            case .readBatch(let recordsMax, let bytesMax, let only):
                return .batchRead(
                    try await repository.nextBatch(recordsMax: recordsMax, bytesMax: bytesMax, of: only))
            case .settle(let batch, let outcome):
                return .settled(await told(try await repository.settle(batch, outcome)))
            case .retryHeldBack(let recordsMax):
                return .heldBackRetried(try await repository.retryHeldBack(recordsMax: recordsMax))
            case .restamp(let offset):
                let now = dependencies.loop.wallNow + offset
                try await repository.restamp(from: UInt64(clamping: now.millisecondsSince1970))
                return .restamped
            case .beginRefetch(let type):
                try await repository.beginRefetch(of: type)
                return .refetchBegun
            case .apply(let page): return .applied(await told(try await repository.apply(page)))
            case .cleanUp:
                try await repository.cleanUp(now: try await dependencies.today?() ?? dependencies.loop.wallNow)
                if let confirmed = await dependencies.confirmedToday() {
                    _ = try await repository.ageParked(to: confirmed)
                }
                return .cleanedUp
            case .checkAccount, .createZone, .push, .fetch: return await exchange(operation)
            }
        } catch {
            return .storeFailed("\(error)")
        }
    }

    private nonisolated func told(_ merge: MergeOutcome) async -> MergeOutcome {
        if !merge.changed.isEmpty { await dependencies.changed(merge) }
        await logNews(merge)
        logToldAgain(merge)
        return merge
    }

    /// Returns the stored identity of the zone with this name; of several zones, that of the one used last.
    private nonisolated func identity(of zone: String) async -> String? {
        guard let progress = try? await dependencies.repository.progress() else { return nil }
        return progress.visits.values.filter { $0.name == zone && $0.identity != SyncZone.standIn(for: zone) }
            .max { $0.serverTime < $1.serverTime }?.identity
    }

    /// Stores a sync run's result for reports after a restart, unless it is partial or cancelled.
    nonisolated func keep(_ result: SyncResult, at now: WallTime, clockOffset: Duration?) async {
        let isComplete: Bool
        switch result.end {
        case .complete: isComplete = true
        case .failed, .halted: isComplete = false
        case .partial, .cancelled: return
        }
        let serverTime = clockOffset.map { UInt64(clamping: (now + $0).millisecondsSince1970) }
        do {
            try await dependencies.repository.runEnded(isComplete: isComplete, at: now, serverTime: serverTime)
        } catch {
            logger.warning("sync report not stored: it is lost at the next restart", metadata: ["cause": "\(error)"])
        }
        dependencies.changes.mark(.host)
    }

    private nonisolated func sample(_ serverTime: UInt64, since begun: MonotonicTime) -> ClockSample {
        ClockSample(
            serverTime: serverTime, localTime: dependencies.loop.wallNow, roundTrip: dependencies.loop.now - begun)
    }

    nonisolated func listen(_ number: Int) async {
        do {
            for try await event in dependencies.link.events() {
                await dependencies.heard(event)
                inbox.yield(.stream(number, Self.meaning(of: event)))
            }
            inbox.yield(.stream(number, .streamBroke(SyncFailure(.network, "the cloud ended the event stream"))))
        } catch {
            let failure = error as? SyncFailure ?? SyncFailure(.network, "the event stream broke: \(error)")
            inbox.yield(.stream(number, .streamBroke(failure)))
        }
    }

    private static func meaning(of event: CloudEvent) -> SyncInput {
        switch event {
        case .opened: .streamOpened
        case .changed(let types, let host): .remoteChanged(types: types, host: host)
        case .lease, .offer, .interest, .command, .log, .ping: .streamHeard
        }
    }
}
