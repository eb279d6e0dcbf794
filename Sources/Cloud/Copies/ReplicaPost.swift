import CloudAPI
import Domain
import Synchronization

final class ReplicaPost: Sendable {
    struct Door {
        var link: any ReplicaLink
        var address: String
    }

    struct Delivery {
        var link: any ReplicaLink
        var address: String
        var key: String
        var parcel: ReplicaOutbox.Parcel
        var ownAddress: String
        var asks: Bool
    }

    private struct Peer {
        var address: String
        var outbox = ReplicaOutbox()
        /// Whether the peer has sent its list of watched meters.
        var isMet = false
        /// Whether the last message to the peer failed.
        var isSilent = false
    }

    private struct State {
        var door: Door?
        var key: String?
        var peers: [ReplicaID: Peer] = [:]
        var hasLooked = false
    }

    private let state = Mutex(State())
    let ready: AsyncStream<ReplicaID>
    private let whenReady: AsyncStream<ReplicaID>.Continuation

    init() { (ready, whenReady) = AsyncStream.makeStream(of: ReplicaID.self) }

    func open(_ door: Door) { state.withLock { $0.door = door } }

    var isOpen: Bool { state.withLock { $0.door != nil } }
    /// Nil if other replicas cannot reach this one.
    var ownAddress: String? { state.withLock { $0.door?.address } }
    var key: String? { state.withLock { $0.key } }
    var counts: (peers: Int, silent: Int) {
        state.withLock { ($0.peers.count, $0.peers.values.count(where: \.isSilent)) }
    }

    /// Whether this replica has every reachable replica's list of watched meters. False just after the start.
    var knowsWhoWatches: Bool {
        state.withLock { state in
            state.door == nil || state.hasLooked && state.peers.values.allSatisfy { $0.isMet || $0.isSilent }
        }
    }

    /// - Returns: known replicas that are missing from `addresses`.
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

    func heard(from copy: ReplicaID, at address: String) {
        state.withLock { $0.peers[copy, default: Peer(address: address)].address = address }
        begin()
    }

    var others: [ReplicaID] { state.withLock { $0.peers.keys.sorted() } }

    func line(to copy: ReplicaID) -> (link: any ReplicaLink, address: String, key: String)? {
        state.withLock { state in
            guard let door = state.door, let key = state.key, let peer = state.peers[copy] else { return nil }
            return (door.link, peer.address, key)
        }
    }

    /// - Parameter copy: recipient; nil for all.
    func tell(_ copy: ReplicaID? = nil, _ note: (inout ReplicaOutbox) -> Void) {
        state.withLock { state in
            for peer in state.peers.keys where copy == nil || peer == copy {
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

    func delivered(to copy: ReplicaID) {
        state.withLock { state in
            state.peers[copy]?.isMet = true
            state.peers[copy]?.isSilent = false
        }
    }

    /// - Returns: whether the replica was reachable before.
    func failed(_ parcel: ReplicaOutbox.Parcel, to copy: ReplicaID) -> Bool {
        state.withLock { state in
            let wasSilent = state.peers[copy]?.isSilent ?? true
            state.peers[copy]?.isSilent = true
            state.peers[copy]?.outbox.failed(parcel)
            return !wasSilent
        }
    }
}
