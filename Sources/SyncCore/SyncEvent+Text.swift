import MeterModel
import SettingsCore

/// One line for people, `meterctl sync events`. No line ends in it, whatever the cloud said.
extension SyncEntry: CustomStringConvertible {
    package var description: String {
        let text = String(event.description.map { $0.isNewline ? " " : $0 })
        return "\(number) \(text)"
    }
}

extension SyncEvent: CustomStringConvertible {
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
        case .split, .refused, .pageShortened, .halted, .zoneMissing, .tokenExpired, .storeReplaced, .storeWentBack,
            .zoneDoubted, .stampsRefused, .interrupted, .postponed, .abandoned:
            failureText
        default: answerText
        }
    }

    private var answerText: String {
        switch self {
        case .progressRead(let progress): "progress read: \(progress.pending) to tell"
        case .accountChecked(let account, _): "account checked: zone \(account.zone), store \(account.epoch)"
        case .zoneCreated: "zone created"
        case .adopted: "store adopted"
        case .corrected: "clock offset told to the store"
        case .batchRead(let batch): batch.map { "batch read: \($0.records.count) records" } ?? "outbox empty"
        case .pushed(let outcome, _): "pushed: \(outcome.results.count) answers"
        case .settled(let merge): "settled: \(merge.changed.count) changed here"
        case .heldBackRetried(let count): "\(count) records that were held back wait again"
        case .restamped: "outbox stamped anew"
        case .refetchBegun: "reading anew begun"
        case .pageFetched(let page):
            "page fetched: \(page.records.count) of \(page.type.rawValue)\(page.moreComing ? ", more coming" : "")"
        case .applied(let merge):
            "page stored: \(merge.changed.count) changed, \(merge.unchanged) unchanged, \(merge.parked) parked"
        case .cleanedUp: "cleaned up"
        case .cloudFailed(let failure): "cloud failed: \(failure)"
        case .storeFailed(let message): "store failed: \(message)"
        default: ""
        }
    }

    private var failureText: String {
        switch self {
        case .split(let first, let second, let failure):
            "batch split in \(first.records.count) and \(second.records.count): \(failure)"
        case .refused(let batch, let failure):
            "record parked: \(batch.records.first.map { "\($0.key.type.rawValue) \($0.key.name)" } ?? ""): \(failure)"
        case .pageShortened(let limit): "page too large, now \(limit) records"
        case .halted(let halt): "halted: \(halt.failure). \(halt.advice)"
        case .zoneMissing(let failure): "zone missing: \(failure)"
        case .tokenExpired(let type): "change token of \(type.rawValue) expired"
        case .storeReplaced(let epoch): "the cloud has another store: \(epoch)"
        case .storeWentBack: "the cloud's store went back behind what was read here"
        case .zoneDoubted: "the cloud answered for another zone"
        case .stampsRefused: "stamps refused as too far ahead"
        case .interrupted(let failure): "interrupted: \(failure)"
        case .postponed(let failure, let until):
            "postponed until \(until.sinceOrigin.milliseconds) ms: \(failure)"
        case .abandoned: "abandoned after the cancellation"
        default: ""
        }
    }
}
