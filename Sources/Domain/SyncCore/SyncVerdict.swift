/// What the middlewares make of an input that is a failure, or an impossible answer.
enum SyncVerdict: Hashable, Sendable {
    /// A batch was too large, or contains something that cannot be read: its halves are sent one after the other.
    case split(OutboxBatch, OutboxBatch, because: SyncFailure)
    /// A batch of one record that the cloud will never accept.
    case refused(OutboxBatch, because: SyncFailure)
    /// A page was too large; the next request asks for this many records.
    case pageShortened(limit: Int)
    case halted(SyncHalt)
    case zoneMissing(SyncFailure)
    /// The token is below the floor of purged tombstones.
    case tokenExpired(RecordType)
    /// A backup was restored.
    case storeReplaced(epoch: String)
    /// The cloud's store lacks changes that this host has seen: an old copy of it was put back.
    case storeWentBack
    /// The cloud answered for another zone than it said before, so it is asked again which one this is.
    case zoneDoubted
    /// The cloud refused the whole batch because its stamps are too far ahead.
    case stampsRefused
    /// The run is over for now and is tried again at `until`.
    case postponed(SyncFailure, until: MonotonicTime)
    /// An operation failed after the run was cancelled, which counts as the end of the operation.
    case abandoned
}

/// An input as understood by the session.
enum SyncEvent: Hashable, Sendable {
    case input(SyncInput)
    case verdict(SyncVerdict)
}

/// Text for people, in `meterctl sync events`.
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
