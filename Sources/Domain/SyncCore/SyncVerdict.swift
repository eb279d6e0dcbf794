/// A middleware's interpretation of a failure or a contradictory answer.
enum SyncVerdict: Hashable, Sendable {
    /// A batch was too large or unreadable; its halves are pushed one after the other.
    case split(OutboxBatch, OutboxBatch, because: SyncFailure)
    /// The cloud permanently refuses this batch of one record.
    case refused(OutboxBatch, because: SyncFailure)
    /// A page was too large; the next request is for at most `limit` records.
    case pageShortened(limit: Int)
    case halted(SyncHalt)
    case zoneMissing(SyncFailure)
    /// The change token is older than tombstones that the cloud has purged.
    case tokenExpired(RecordType)
    /// The cloud's store has another epoch: a backup was restored.
    case storeReplaced(epoch: String)
    /// The cloud's store lacks changes that this host has seen: an administrator restored an old copy.
    case storeWentBack
    /// The cloud answered for another zone than before, so the account is checked again.
    case zoneDoubted
    /// The cloud refused the whole batch because its stamps are too far ahead of the cloud's clock.
    case stampsRefused
    case postponed(SyncFailure, until: MonotonicTime)
    /// An operation failed after a cancellation, so the failure is ignored.
    case abandoned
}

enum SyncEvent: Hashable, Sendable {
    case input(SyncInput)
    case verdict(SyncVerdict)
}

extension SyncVerdict: CustomStringConvertible {
    var description: String {
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
        case .storeWentBack: "the cloud's store went back to before what was read here"
        case .zoneDoubted: "the cloud answered for another zone"
        case .stampsRefused: "stamps refused as too far ahead"
        case .postponed(let failure, let until):
            "postponed until \(until.sinceOrigin.milliseconds) ms: \(failure)"
        case .abandoned: "abandoned after the cancellation"
        }
    }
}

extension SyncEvent: CustomStringConvertible {
    var description: String {
        switch self {
        case .input(let input): "\(input)"
        case .verdict(let verdict): "\(verdict)"
        }
    }
}
