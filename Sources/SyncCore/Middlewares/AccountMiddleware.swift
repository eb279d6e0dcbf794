package import MeterModel
import SettingsCore

/// Asks first who the cloud thinks we are, which store it has and what time it is there.
package struct AccountMiddleware: SyncMiddleware {
    package let name = "account status"

    package init() {}

    package func read(_ event: SyncEvent, _ state: SyncState, _ moment: SyncMoment) -> SyncEvent {
        guard case .accountChecked(let account, _) = event, account.zone != state.zone else { return event }
        guard state.run?.ending == nil else { return .abandoned }
        let failure = SyncFailure(
            .permissionDenied, "this host's token is for zone \(account.zone), and it joined \(state.zone)")
        return SyncHalt(failure).map { .halted($0) } ?? event
    }

    package func proposal(_ state: SyncState, _ run: SyncRun, at now: MonotonicTime) -> SyncProposal? {
        state.account == nil && !state.isZoneMissing ? .perform(.checkAccount) : nil
    }
}
