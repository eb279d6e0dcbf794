import MeterModel

/// What the cloud said of this host's account.
enum AccountStatus: Hashable, Sendable {
    /// Asked for before anything else.
    case unknown
    /// The cloud has no zone of the name: it is made before anything else.
    case zoneMissing
    /// `at`: by this host's calendar.
    case known(CloudAccount, at: WallTime)

    var known: CloudAccount? {
        if case .known(let account, _) = self { account } else { nil }
    }

    /// The cloud has another store than it said.
    mutating func replaceStore(epoch: String) {
        guard case .known(var account, let time) = self else { return }
        account.epoch = epoch
        self = .known(account, at: time)
    }
}

extension SyncState {
    /// A token of another zone halts the session.
    func accountStatus(_ input: SyncInput) -> SyncVerdict? {
        guard case .accountChecked(let account, _) = input, account.zone != zone else { return nil }
        guard run?.ending == nil else { return .abandoned }
        let failure = SyncFailure(
            .permissionDenied, "this host's token is for zone \(account.zone), and it joined \(zone)")
        return SyncHalt(failure).map { .halted($0) }
    }

    /// Asks first who the cloud thinks we are, which store it has and what time it is there.
    func accountStatus(_ run: SyncRun) -> SyncStep? { account == .unknown ? .perform(.checkAccount) : nil }
}
