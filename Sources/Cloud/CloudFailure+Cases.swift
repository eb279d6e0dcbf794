package import CloudAPI
import MeterModel
import SettingsCore

/// What every engine says in the same words.
extension CloudFailure {
    package static func zoneNotFound(_ zone: String) -> CloudFailure {
        CloudFailure(.zoneNotFound, "there is no zone \"\(zone)\"; make it with PUT /v1/zones/\(zone)")
    }

    /// - Parameter epoch: the store's present one.
    package static func changeTokenExpired(_ why: String, epoch: String) -> CloudFailure {
        var failure = CloudFailure(.changeTokenExpired, "the change token \(why); fetch everything again without one")
        failure.epoch = epoch
        return failure
    }

    package static func credentialTaken(_ id: String) -> CloudFailure {
        CloudFailure(.badRequest, "there is a token with the id \(id) or with this secret already; make another one")
    }

    package static func credentialNotFound(_ id: String) -> CloudFailure {
        CloudFailure(.notFound, "there is no token with the id \(id); the list of tokens shows those there are")
    }
}

extension Credential {
    /// The rule of binding, for all engines (leases-and-sync.md, section 1, rule 11).
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

extension ChangeToken {
    /// Whether reading may go on after it.
    ///
    /// - Parameters:
    ///   - epoch: of the store.
    ///   - floor: the greatest sequence of a purged tombstone, 0 for none.
    ///   - sequence: of the zone's last change.
    package func check(epoch: String, floor: UInt64, sequence: UInt64) throws(CloudFailure) {
        guard self.epoch == epoch else {
            throw .changeTokenExpired("is from before this cloud was restored from a backup", epoch: epoch)
        }
        guard isGood(above: floor) else {
            throw .changeTokenExpired("is older than deletions that were purged since", epoch: epoch)
        }
        guard self.sequence <= sequence else {
            throw .changeTokenExpired("is newer than anything in this zone", epoch: epoch)
        }
    }

    /// Where the next page begins.
    ///
    /// - Parameters:
    ///   - last: the sequence of the last record of this page, nil for an empty page.
    ///   - moreComing: with false, all changes up to the zone's present sequence were read.
    ///   - floor: see `check`.
    package static func after(
        _ token: ChangeToken?, last: UInt64?, moreComing: Bool, epoch: String, floor: UInt64, sequence: UInt64
    ) -> ChangeToken {
        guard moreComing else { return ChangeToken(epoch: epoch, sequence: sequence) }
        let start = token == nil ? floor : token?.floor
        return ChangeToken(epoch: epoch, sequence: last ?? token?.sequence ?? 0, floor: start)
    }
}
