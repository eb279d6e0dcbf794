import ConnectionCore
import LeaseCore
import Logging
import MeterModel

/// A person wants a meter that is not heard here, because another host is connected to it: a Bluetooth LE meter with a
/// connection does not advertise (Docs/Operating, *A meter that is not heard here*). So the zone is asked
/// first, and the meter looked for while the lease is kept. Only a person's command does this; what a host resumes by
/// itself waits until the meter is heard.
struct Search: Sendable {
    /// Until the zone's answer, the moment at which asking ends; then the one at which the lease is given back.
    var endsAt: MonotonicTime
    /// How long the meter is looked for; nil while its lease is asked for.
    var patience: Duration?
}

extension DeviceSession {
    /// After a search in vain, this host's next take-over of the meter takes a person who is sure, for so long.
    static let doubtAfterSearch = Duration.seconds(600)

    /// As `connect`, and asks for a meter that is not here.
    package func seek(_ manner: ConnectManner, patience: Duration) {
        connect(manner)
        guard !isShutDown, machine.asksFirst, !machine.isPresent, permission == nil else { return }
        wish = manner.wish
        search = Search(endsAt: loop.now + patience)
        requestPermission()
        arm()
    }

    /// The last search ended in vain, a short while ago.
    var wasNotHeard: Bool { notHeardAt.map { loop.now < $0 + Self.doubtAfterSearch } ?? false }

    /// The zone answered a search.
    func granted(_ permission: LinkPermission) {
        guard case .leased = permission else {
            // A link without a lease is of no use: there is none.
            returnPermission(.letGo)
            gate?.cancel(id)
            return endSearch(with: .unanswered)
        }
        // A permission that replaces another one is a renewal.
        guard search?.patience == nil else { return arm() }
        let patience = gate?.searchTime(for: id) ?? LeaseTiming.searchTime
        search = Search(endsAt: loop.now + patience, patience: patience)
        logger.info("looking for the meter", metadata: ["for": "\(patience)"])
        endWaits(with: .permitted, of: .permission)
        arm()
    }

    /// The meter is here: from now on all goes as ever, with the lease kept for the first attempts at a link.
    func found() {
        guard search != nil else { return }
        search = nil
        notHeardAt = nil
        returnPermission(.linkLost)
    }

    /// Gives up a search whose time is over.
    func endSearchInVain() {
        guard let search, loop.now >= search.endsAt else { return }
        guard let patience = search.patience else {
            gate?.cancel(id)
            return endSearch(with: .timedOut)
        }
        lastError = "it was not heard here for \(patience.components.seconds) s, so its lease was given back"
        notHeardAt = loop.now
        logger.notice("the meter is not heard: its lease is given back", metadata: ["after": "\(patience)"])
        returnPermission(.letGo)
        endSearch(with: .notHeard(patience))
    }

    func endSearch(with outcome: DataWait) {
        guard search != nil else { return }
        search = nil
        endWaits(with: outcome)
        arm()
    }
}
