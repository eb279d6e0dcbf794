import CloudAPI
import MeterModel

/// Failures that all engines report in the same words.
extension CloudFailure {
    package static func zoneNotFound(_ zone: String) -> CloudFailure {
        CloudFailure(.zoneNotFound, "there is no zone \"\(zone)\"; make it with PUT /v1/zones/\(zone)")
    }

    /// Why a host is refused that may only look, and what to do about it.
    static let mayOnlyLook =
        "this host's token is read-only, so it may only look; join with one from metercloud token create without "
        + "--read-only to let it do more"

    static var stopping: CloudFailure {
        CloudFailure(
            .serviceUnavailable, "this metercloud is stopping; ask another copy of it, or again in a moment",
            retryAfter: .seconds(1))
    }

    static func used(_ id: RequestID) -> CloudFailure {
        CloudFailure(.badRequest, "the id \(id) was used for another request; make a new one")
    }

    package static func credentialTaken(_ id: String) -> CloudFailure {
        CloudFailure(.badRequest, "there is a token with the id \(id) or with this secret already; make another one")
    }

    package static func credentialNotFound(_ id: String) -> CloudFailure {
        CloudFailure(.notFound, "there is no token with the id \(id); the list of tokens shows those there are")
    }
}

extension Credential {
    /// The rule for binding credentials, for all engines (Docs/Leases.md#rule-11).
    ///
    /// - Parameter others: all credentials of the zone; this one may be among them.
    package func bound(to wish: Binding, among others: [Credential]) throws(CloudFailure) -> Credential {
        guard revokedAt == nil else { throw CloudFailure(.permissionDenied, "the token \(id) was revoked") }
        if let binding, binding.host != wish.host || binding.machine != wish.machine {
            throw CloudFailure(
                .permissionDenied,
                "the token \(id) belongs to the host \(binding.hostName) (\(binding.host)); "
                    + "make a token of its own for \(wish.hostName)")
        }
        let twin = others.first { other in
            guard let theirs = other.binding, other.id != id, other.revokedAt == nil else { return false }
            return theirs.host == wish.host && theirs.machine != wish.machine
        }
        if let twin {
            throw CloudFailure(
                .duplicateHost,
                "another machine is in this zone with the host id \(wish.host), under the token \(twin.id): give one "
                    + "of the two a new id (a copied memory card has its original's), or revoke that token where the "
                    + "machine was replaced")
        }
        var copy = self
        copy.binding = wish
        return copy
    }
}
