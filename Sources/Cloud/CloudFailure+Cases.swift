import CloudAPI
import Domain

extension CloudFailure {
    package static func zoneNotFound(_ zone: String) -> CloudFailure {
        CloudFailure(.zoneNotFound, "there is no zone \"\(zone)\"; make it with PUT /v1/zones/\(zone)")
    }

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
    /// Returns this credential, bound to the host in `wish`, by the rule for all engines (Docs/Leases.md#rule-11).
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

    /// Applies the rule for enrolment, for all engines: returns the host's earlier access tokens, which this one
    /// replaces (Docs/Leases.md#rule-11). Empty for a token that was not obtained by enrolment.
    ///
    /// A host's id and its machine's digest are not secret, so they are no reason to revoke a token. An unused token
    /// from the same enrolment token is replaced, because its answer may have been lost. Another token is replaced if
    /// the host also sends one of its own tokens with at least the same role.
    ///
    /// - Parameter shown: hashes of tokens that the host sent besides the enrolment token.
    /// - Throws: `permissionDenied` if an earlier token may not be replaced, or permits more than this one.
    package func replaced(
        among others: [Credential], showing shown: [[UInt8]]
    ) throws(CloudFailure) -> [Credential] {
        guard let enrolment = unusedFrom, let host = binding?.host else { return [] }
        let earlier = others.filter {
            $0.kind == .host && $0.id != id && $0.revokedAt == nil && $0.binding?.host == host
        }
        let proofs = earlier.filter { shown.contains($0.hash) }.map(\.role)
        for other in earlier {
            let remedy =
                "revoke it on the cloud's machine (metercloud token revoke \(other.id)), then join again"
            guard role.covers(other.role) else {
                throw CloudFailure(
                    .permissionDenied,
                    "the host \(host) has the token \(other.id), which may do more than one of this enrolment; \(remedy)"
                )
            }
            guard other.unusedFrom == enrolment || proofs.contains(where: { $0.covers(other.role) }) else {
                throw CloudFailure(
                    .permissionDenied,
                    "the host \(host) uses the token \(other.id), and this request does not show that it comes from "
                        + "that host; if the host lost its token, \(remedy)")
            }
        }
        return earlier
    }
}
