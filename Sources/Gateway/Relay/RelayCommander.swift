package import Domain
import GatewayAPI

/// Sends commands for other hosts' meters to the holders (Docs/Relay.md#commands).
package struct RelayCommander: Sendable {
    private let link: any RelayLink
    private let keeper: LeaseKeeper
    private let newID: @Sendable () -> RequestID

    package init(link: any RelayLink, keeper: LeaseKeeper, newID: @escaping @Sendable () -> RequestID) {
        self.link = link
        self.keeper = keeper
        self.newID = newID
    }

    /// Returns the holder and its API's answer; nil if no other host has the meter.
    ///
    /// - Throws: `permission` on a read-only host; the holder's error; `refused` if the command was not done;
    ///   `timedOut` if the outcome is unknown.
    package func order(
        _ action: RelayAction, of meter: MeterID, named reference: String
    ) async throws(GatewayError) -> (holder: String, result: String?)? {
        guard let lease = await keeper.leaseElsewhere(of: meter) else { return nil }
        let holder = lease.holderName ?? "another host"
        guard await keeper.roleInZone == .full else { throw Self.mayOnlyLook(holder, reference) }
        let outcome: RelayOutcome
        do throws(SyncFailure) {
            outcome = try await link.command(newID(), action, of: lease.meter, token: lease.token)
        } catch {
            if error.kind == .readOnly { throw Self.mayOnlyLook(holder, reference) }
            throw unknown("the cloud did not report it (\(error.message))", holder)
        }
        switch outcome {
        case .done(let result): return (holder, result)
        case .refused(let code, let message, let next):
            throw GatewayError(
                ErrorCode(rawValue: code) ?? .refused, "\(holder), which has \(reference), refused it: \(message)",
                next: next)
        case .notDone(let why):
            throw GatewayError(
                .refused, "the command was not done: \(why)",
                next: "meterctl who shows the meter's holder; then try again")
        case .timedOut(let why): throw unknown(why, holder)
        }
    }

    private static func mayOnlyLook(_ holder: String, _ reference: String) -> GatewayError {
        .mayOnlyLook("it sends no command to \(holder), which has \(reference)")
    }

    private func unknown(_ why: String, _ holder: String) -> GatewayError {
        GatewayError(
            .timedOut, "the outcome at \(holder) is unknown: \(why)",
            next: "check the meter before you try again: meterctl status")
    }
}
