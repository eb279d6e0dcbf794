enum AccountStatus: Hashable, Sendable {
    case unknown
    /// The zone does not exist yet; a run creates it.
    case zoneMissing
    /// Account data from the cloud, received at `at` by this host's wall clock.
    case known(CloudAccount, at: WallTime)

    var known: CloudAccount? {
        if case .known(let account, _) = self { account } else { nil }
    }

    mutating func replaceStore(epoch: String) {
        guard case .known(var account, let time) = self else { return }
        account.epoch = epoch
        self = .known(account, at: time)
    }
}

extension SyncState {
    /// Halts the session if the access token is for another zone.
    func accountStatus(_ input: SyncInput) -> SyncVerdict? {
        guard case .accountChecked(let account, _) = input, account.zone != zone else { return nil }
        guard run?.ending == nil else { return .abandoned }
        let failure = SyncFailure(
            .permissionDenied, "this host's token is for zone \(account.zone), and it joined \(zone)")
        return SyncHalt(failure).map { .halted($0) }
    }

    func accountStatus(_ run: SyncRun) -> SyncStep? { account == .unknown ? .perform(.checkAccount) : nil }
}
