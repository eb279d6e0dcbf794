package import CloudAPI
package import LeaseCore
package import Logging
import MeterModel
package import SettingsCore

/// What hosts ask of the cloud, decided: who may, what is well formed, and what the engine has to do about it.
///
/// Every call that names a zone is refused (`permissionDenied`) unless the principal is a host's, of that zone, and
/// bound to the host (`join`).
package final class CloudService: Sendable {
    private let engine: any CloudEngine
    private let clock: CloudClock
    private let logger: Logger

    package init(
        engine: any CloudEngine, clock: CloudClock, dice: any RandomNumberGenerator & Sendable, logger: Logger
    ) {
        self.engine = engine
        self.clock = clock
        self.logger = logger
    }

    /// Offers meters whose lease is over to who waits for them, ends offers that nobody took, and purges old
    /// tombstones. Until its task is cancelled.
    package func run() async {}

    /// Ends every event stream, and those to come.
    package func shutdown() {}

    private var absent: CloudFailure { CloudFailure(.serviceUnavailable, "this call is not there yet") }
}

// MARK: - Hosts

extension CloudService {
    /// - Parameter hash: SHA-256 of the token that was shown.
    /// - Throws: `notAuthenticated` for one that is unknown or revoked.
    package func authenticate(hash: [UInt8]) async throws(CloudFailure) -> Principal { throw absent }

    /// - Parameter newToken: what the host gets where it shows an enrolment token.
    /// - Throws: `duplicateHost`, `permissionDenied`, `badRequest`.
    package func join(
        _ request: JoinRequest, by principal: Principal, newToken: (text: String, hash: [UInt8])
    ) async throws(CloudFailure) -> JoinAnswer { throw absent }

    package func account(of principal: Principal) async throws(CloudFailure) -> AccountBody { throw absent }

    /// Makes the principal's own zone where it is not there.
    package func createZone(_ zone: String, by principal: Principal) async throws(CloudFailure) { throw absent }
}

// MARK: - Records

extension CloudService {
    package func modify(
        _ request: ModifyRequest, in zone: String, by principal: Principal
    ) async throws(CloudFailure) -> ModifyAnswer { throw absent }

    package func changes(
        type: String, since: String?, limit: Int?, in zone: String, by principal: Principal
    ) async throws(CloudFailure) -> ChangesBody { throw absent }
}

// MARK: - Leases

extension CloudService {
    package func leases(in zone: String, by principal: Principal) async throws(CloudFailure) -> LeaseList {
        throw absent
    }

    package func acquire(
        _ request: AcquireRequest, meter: String, in zone: String, by principal: Principal
    ) async throws(CloudFailure) -> LeaseBody { throw absent }

    package func renew(
        _ request: RenewRequest, in zone: String, by principal: Principal
    ) async throws(CloudFailure) -> RenewAnswer { throw absent }

    package func release(
        _ request: ReleaseRequest, meter: String, in zone: String, by principal: Principal
    ) async throws(CloudFailure) -> LeaseBody { throw absent }

    package func revoke(
        meter: String, in zone: String, by principal: Principal
    ) async throws(CloudFailure) -> LeaseBody { throw absent }

    /// - Throws: `badRequest` where no event stream of the host is open: nobody could tell it that its turn has come.
    package func enqueue(
        meter: String, in zone: String, by principal: Principal
    ) async throws(CloudFailure) -> LeaseBody { throw absent }

    package func leaveQueue(
        meter: String, in zone: String, by principal: Principal
    ) async throws(CloudFailure) -> LeaseBody { throw absent }

    package func events(in zone: String, by principal: Principal) async throws(CloudFailure) -> EventSubscription {
        throw absent
    }
}

// MARK: - Console

/// What the administrator asks on the server's own machine. Nobody is checked.
extension CloudService {
    package func zones() async throws(CloudFailure) -> [Zone] { throw absent }

    /// - Throws: `badRequest` for a name that is none.
    package func createZone(_ name: String, terms: LeaseTerms) async throws(CloudFailure) -> Zone { throw absent }

    package func setTerms(_ terms: LeaseTerms, of zone: String) async throws(CloudFailure) { throw absent }

    /// - Parameter type: nil: all.
    package func records(in zone: String, type: String?) async throws(CloudFailure) -> [Record] { throw absent }

    package func record(
        type: String, name: String, in zone: String
    ) async throws(CloudFailure) -> Record? { throw absent }

    /// Freed ones too, without any session.
    package func leases(in zone: String) async throws(CloudFailure) -> LeaseList { throw absent }

    package func revokeLease(meter: String, in zone: String) async throws(CloudFailure) -> LeaseBody { throw absent }

    /// - Parameter zone: nil: all zones.
    package func credentials(in zone: String?) async throws(CloudFailure) -> [Credential] { throw absent }

    /// - Parameter hash: SHA-256 of the token, which the caller made.
    package func addCredential(
        _ kind: Credential.Kind, label: String, hash: [UInt8], in zone: String
    ) async throws(CloudFailure) -> Credential { throw absent }

    /// Ends the event streams that were opened with it.
    ///
    /// - Throws: `notFound` where there is none by that id.
    package func revokeCredential(_ id: String) async throws(CloudFailure) { throw absent }
}
