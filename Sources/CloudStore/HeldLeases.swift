import Domain

/// Held leases of one zone by meter. Compact, because there may be a hundred thousand; a dictionary of `LeaseRecord`
/// needs about five times as much memory.
struct HeldLeases {
    // Indices in `slots`, by MAC address as a number if the meter has a radio, otherwise by id.
    private var macs: [UInt64: Int32] = [:]
    private var others: [String: Int32] = [:]
    private var slots: [Slot] = []
    private var freeSlots: [Int32] = []
    /// Sessions of holders, each with its number of leases. All leases of a session share one `Run` object.
    private var runs: [Run.Key: (run: Run, leases: Int)] = [:]

    var count: Int { macs.count + others.count }
    var isEmpty: Bool { count == 0 }

    /// Setting a record without a holder removes the lease.
    subscript(meter: String) -> LeaseRecord? {
        get { place(of: meter).map { slots[Int($0)].record } }
        set {
            guard let record = newValue, let holder = record.holder else {
                remove(meter)
                return
            }
            let slot = Slot(record, of: holder, run: take(Run.Key(holder)))
            if let place = place(of: meter) {
                giveBack(slots[Int(place)].run.key)
                slots[Int(place)] = slot
            } else if let place = freeSlots.popLast() {
                slots[Int(place)] = slot
                setPlace(place, of: meter)
            } else {
                setPlace(Int32(clamping: slots.count), of: meter)
                slots.append(slot)
            }
        }
    }

    var all: [(meter: String, record: LeaseRecord)] {
        var all: [(meter: String, record: LeaseRecord)] = []
        all.reserveCapacity(count)
        for (bits, place) in macs { all.append((MACAddress(bits: bits).description, slots[Int(place)].record)) }
        for (meter, place) in others { all.append((meter, slots[Int(place)].record)) }
        return all
    }

    private mutating func remove(_ meter: String) {
        let place = Self.mac(meter).map { macs.removeValue(forKey: $0) } ?? others.removeValue(forKey: meter)
        guard let place else { return }
        giveBack(slots[Int(place)].run.key)
        freeSlots.append(place)
    }

    private func place(of meter: String) -> Int32? { Self.mac(meter).map { macs[$0] } ?? others[meter] }

    private mutating func setPlace(_ place: Int32, of meter: String) {
        if let mac = Self.mac(meter) { macs[mac] = place } else { others[meter] = place }
    }

    private mutating func take(_ key: Run.Key) -> Run {
        let entry = runs[key] ?? (Run(key), 0)
        runs[key] = (entry.run, entry.leases + 1)
        return entry.run
    }

    private mutating func giveBack(_ key: Run.Key) {
        guard let entry = runs[key] else { return }
        runs[key] = entry.leases > 1 ? (entry.run, entry.leases - 1) : nil
    }

    /// Returns a normalised MAC address, `AA:BB:CC:DD:EE:FF`, as a number; nil for another id.
    private static func mac(_ meter: String) -> UInt64? {
        MACAddress(printed: meter)?.bits
    }
}

extension HeldLeases {
    private final class Run: Sendable {
        struct Key: Hashable {
            var session: SessionID
            var host: HostID
            var hostName: String

            init(_ holder: LeaseHolder) {
                session = holder.session
                host = holder.host
                hostName = holder.hostName
            }
        }

        let key: Key

        init(_ key: Key) { self.key = key }
    }

    /// A lease in 72 bytes; durations are whole milliseconds, as in requests.
    private struct Slot {
        let run: Run
        private let token: UInt64
        private let renewedAt: Int64
        private let acquiredAt: Int64
        private let request: (high: UInt64, low: UInt64)
        private let timeToLive: UInt32
        private let lockDelay: UInt32
        private let transport: LeaseTransport
        private let policy: LeasePolicy
        private let isRevoking: Bool
        private let hasRequest: Bool
        /// All grants, except the last one if `request` contains it.
        private let earlier: [LeaseGrant]

        init(_ record: LeaseRecord, of holder: LeaseHolder, run: Run) {
            self.run = run
            token = record.token.rawValue
            renewedAt = record.renewedAt.sinceOrigin.nanoseconds
            acquiredAt = holder.acquiredAt.millisecondsSince1970
            let last = record.grants.last.flatMap { $0.token == record.token ? $0.requestID : nil }
            request = (last?.high ?? 0, last?.low ?? 0)
            timeToLive = UInt32(clamping: record.terms.timeToLive.milliseconds)
            lockDelay = UInt32(clamping: record.terms.askedLockDelay.milliseconds)
            transport = holder.transport
            policy = record.terms.policy
            if case .revoking = record.state { isRevoking = true } else { isRevoking = false }
            hasRequest = last != nil
            earlier = last == nil ? record.grants : record.grants.dropLast()
        }

        var record: LeaseRecord {
            let holder = LeaseHolder(
                host: run.key.host, hostName: run.key.hostName, session: run.key.session, transport: transport,
                acquiredAt: WallTime(millisecondsSince1970: acquiredAt))
            let token = FencingToken(rawValue: token)
            let last =
                hasRequest
                ? [LeaseGrant(requestID: RequestID(high: request.high, low: request.low), token: token)] : []
            return LeaseRecord(
                state: isRevoking ? .revoking(holder) : .held(holder), token: token,
                terms: LeaseTerms(
                    timeToLive: .milliseconds(timeToLive), lockDelay: .milliseconds(lockDelay), policy: policy),
                renewedAt: MonotonicTime(sinceOrigin: .nanoseconds(renewedAt)),
                grants: earlier + last)
        }
    }
}
