import Cloud
import Domain

struct StoredQueue: StoredValue, Hashable {
    struct Place: Codable, Hashable, Sendable {
        var host: String
        var name: String
        var copy: String
        var token: UInt64
    }

    var waiters: [Place]
    var writer: String

    init(_ waiters: [Waiter], writer: String) {
        self.writer = writer
        self.waiters = waiters.map {
            Place(host: $0.host.description, name: $0.name, copy: $0.copy.description, token: $0.token.rawValue)
        }
    }

    var queue: [Waiter]? {
        var queue: [Waiter] = []
        var hosts: Set<HostID> = []
        for place in waiters {
            guard let host = HostID(place.host), let copy = ReplicaID(place.copy), hosts.insert(host).inserted,
                place.token <= FencingToken.max.rawValue
            else { return nil }
            queue.append(
                Waiter(host: host, name: place.name, copy: copy, token: FencingToken(rawValue: place.token)))
        }
        return queue
    }
}
