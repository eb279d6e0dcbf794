import Domain

/// Who watches which meter in a run, what their holders send, and what two copies of the cloud know of the leases.
///
/// It draws from a random source of its own, and changes nothing of the leases: a seed's leases are the same with it.
struct SimulatedRelay {
    /// Copies of the cloud. The first reads the store; the second hears of a change some time later.
    static let copies = 2

    /// A host's stream of one meter.
    struct Watcher {
        var id: UInt64
        var host: Int
        var run: Int
        var meter: Int
        /// That it listens to.
        var copy: Int
        var lastDelivery: TrueTime = 0
    }

    /// A host that watches a meter, from its side.
    struct Observer {
        /// Of its stream.
        var id: UInt64
        var rules = RelayObserver()
        /// The greatest token of which it has shown a reading.
        var shown: (epoch: String, token: FencingToken)?
    }

    /// What a holder sends of a meter.
    struct Sending {
        var rules: RelaySender
        /// The batch that is on its way.
        var underWay: UInt64?
        var wakeAt: TrueTime?
    }

    /// A batch as it reaches a copy.
    struct Batch {
        var id: UInt64
        var host: Int
        var run: Int
        var session: SessionID
        var meter: Int
        var copy: Int
        var parcel: RelaySender.Parcel
    }

    var rng: SimulationRNG
    /// By meter, the lease as the second copy last heard of it.
    var heard: [LeaseRecord?]
    var watchers: [Watcher] = []
    /// By host and meter.
    var observers: [[Observer?]]
    var sendings: [[Sending?]]

    init(seed: UInt64, _ scenario: Scenario) {
        rng = SimulationRNG(seed: seed ^ 0x5EA1_0F2E_1A75)
        heard = Array(repeating: nil, count: scenario.meters)
        observers = Array(repeating: Array(repeating: nil, count: scenario.meters), count: scenario.hosts)
        sendings = Array(repeating: Array(repeating: nil, count: scenario.meters), count: scenario.hosts)
    }

    /// A process is gone, with all that it watched and sent.
    mutating func crashed(_ host: Int) {
        for meter in observers[host].indices {
            observers[host][meter] = nil
            sendings[host][meter] = nil
        }
        watchers.removeAll { $0.host == host }
    }
}

/// What happens next of the relay.
enum RelayOccasion {
    /// A host begins to watch a meter, or lets go of it.
    case look(host: Int, run: Int)
    /// A host opens a stream again that broke.
    case watchAgain(host: Int, run: Int, meter: Int, id: UInt64)
    case measured(host: Int, run: Int, meter: Int, channel: UInt64)
    /// A reading, handed over later than it was measured.
    case handedOver(host: Int, run: Int, meter: Int, TimedReading)
    case wake(host: Int, run: Int, meter: Int)
    /// The holder hears that somebody watches.
    case interest(host: Int, run: Int, meter: Int)
    /// A batch reaches a copy of the cloud.
    case arrives(SimulatedRelay.Batch)
    /// One copy has passed a batch on to the other.
    case passedOn(RelayObserver.Arrival, meter: Int, copy: Int)
    case answered(SimulatedRelay.Batch, RelaySender.Outcome)
    case shown(RelayObserver.Arrival, host: Int, run: Int, meter: Int, id: UInt64)
    /// The cloud tells holders again who watches.
    case renew
    /// The second copy hears of the leases.
    case learn

    /// Whose process it concerns, if a host's.
    var host: (index: Int, run: Int)? {
        switch self {
        case .look(let host, let run), .watchAgain(let host, let run, _, _), .measured(let host, let run, _, _),
            .handedOver(let host, let run, _, _), .wake(let host, let run, _), .interest(let host, let run, _),
            .shown(_, let host, let run, _, _):
            (host, run)
        case .answered(let batch, _): (batch.host, batch.run)
        case .arrives, .passedOn, .renew, .learn: nil
        }
    }
}
