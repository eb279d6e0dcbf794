import CloudAPI
import Domain
import Synchronization

/// The other copies of this cloud, as far as this one knows them, and what they are to be told.
final class CopyPost: Sendable {
    /// How other copies are reached, and this one by them.
    struct Door {
        var link: any CopyLink
        var address: String
    }

    /// Something to tell a copy.
    struct Delivery {
        var link: any CopyLink
        /// Of the copy that is told.
        var address: String
        var key: String
        var parcel: CopyOutbox.Parcel
        /// With what is being told: where this copy is reached, and whether it asks what is watched there.
        var ownAddress: String
        var asks: Bool
    }

    private struct Peer {
        var address: String
        var outbox = CopyOutbox()
        /// Whether this copy knows what is watched there.
        var isMet = false
        /// Whether the last word to it was lost.
        var isSilent = false
    }

    private struct State {
        var door: Door?
        var key: String?
        var peers: [ReplicaID: Peer] = [:]
        /// Whether the others were looked for.
        var hasLooked = false
    }

    private let state = Mutex(State())
    /// Copies for which something waits.
    let ready: AsyncStream<ReplicaID>
    private let whenReady: AsyncStream<ReplicaID>.Continuation

    init() { (ready, whenReady) = AsyncStream.makeStream(of: ReplicaID.self) }

    /// Copies can be reached from now on.
    func open(_ door: Door) { state.withLock { $0.door = door } }

    var isOpen: Bool { state.withLock { $0.door != nil } }
    /// Where this copy is reached by others; nil if it is not.
    var ownAddress: String? { state.withLock { $0.door?.address } }
    var key: String? { state.withLock { $0.key } }
    /// Number of other copies, and of those that could not be reached the last time.
    var counts: (peers: Int, silent: Int) {
        state.withLock { ($0.peers.count, $0.peers.values.count(where: \.isSilent)) }
    }

    /// Whether this copy knows of every meter whether anybody watches it. False just after the start, while others have
    /// not been asked.
    var knowsWhoWatches: Bool {
        state.withLock { state in
            state.door == nil || state.hasLooked && state.peers.values.allSatisfy { $0.isMet || $0.isSilent }
        }
    }

    /// The copies that live.
    ///
    /// - Parameter addresses: of those that can be reached, without this one.
    /// - Returns: copies that are gone.
    func found(_ addresses: [ReplicaID: String], key: String) -> [ReplicaID] {
        let gone = state.withLock { state in
            state.key = key
            state.hasLooked = true
            let gone = state.peers.keys.filter { addresses[$0] == nil }.sorted()
            for copy in gone { state.peers[copy] = nil }
            for (copy, address) in addresses { state.peers[copy, default: Peer(address: address)].address = address }
            return gone
        }
        begin()
        return gone
    }

    /// A copy told something, which may be the first that this one hears of it.
    func heard(from copy: ReplicaID, at address: String) {
        state.withLock { $0.peers[copy, default: Peer(address: address)].address = address }
        begin()
    }

    /// The copies that are known.
    var others: [ReplicaID] { state.withLock { $0.peers.keys.sorted() } }

    /// How to ask a copy; nil if it is not known.
    func line(to copy: ReplicaID) -> (link: any CopyLink, address: String, key: String)? {
        state.withLock { state in
            guard let door = state.door, let key = state.key, let peer = state.peers[copy] else { return nil }
            return (door.link, peer.address, key)
        }
    }

    /// Notes something for one copy, or for all.
    func tell(_ copy: ReplicaID? = nil, _ note: (inout CopyOutbox) -> Void) {
        state.withLock { state in
            for peer in state.peers.keys where copy == nil || peer == copy {
                // Taken in two steps: the outbox is changed in place.
                note(&state.peers[peer, default: Peer(address: "")].outbox)
            }
        }
        begin()
    }

    private func begin() {
        let ready = state.withLock { state -> [ReplicaID] in
            guard state.door != nil, state.key != nil else { return [] }
            return state.peers.keys.sorted().filter { state.peers[$0]?.outbox.begin() == true }
        }
        for copy in ready { whenReady.yield(copy) }
    }

    /// What to tell a copy next; nil if there is nothing.
    func take(for copy: ReplicaID) -> Delivery? {
        state.withLock { state in
            guard let door = state.door, let key = state.key, let parcel = state.peers[copy]?.outbox.take(),
                let peer = state.peers[copy]
            else { return nil }
            return Delivery(
                link: door.link, address: peer.address, key: key, parcel: parcel, ownAddress: door.address,
                asks: !peer.isMet)
        }
    }

    /// A copy was told what it was to be told.
    func delivered(to copy: ReplicaID) {
        state.withLock { state in
            state.peers[copy]?.isMet = true
            state.peers[copy]?.isSilent = false
        }
    }

    /// - Returns: whether that is news.
    func failed(_ parcel: CopyOutbox.Parcel, to copy: ReplicaID) -> Bool {
        state.withLock { state in
            let wasSilent = state.peers[copy]?.isSilent ?? true
            state.peers[copy]?.isSilent = true
            state.peers[copy]?.outbox.failed(parcel)
            return !wasSilent
        }
    }
}
