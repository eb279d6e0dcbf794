import CloudAPI
import CloudClient
import Domain
import LeaseWitness
import Synchronization

/// All users of all zones of one cloud.
final class LeaseCrowd: Sendable {
    private static let usersPerZone = 5

    struct Zone {
        var name: String
        var terms: LeaseTerms
        /// Tokens with which hosts join; the first gives all rights.
        var enrolments: [Secret]
    }

    /// By zone.
    let histories: [LeaseHistory]
    private let users: [LeaseUser]
    private let isOver = Atomic(false)

    /// - Parameter now: runs as the cloud's clock does.
    init(
        _ zones: [Zone], seed: UInt64, pin: CertificatePin?, now: @escaping @Sendable () -> MonotonicTime,
        address: @escaping LeaseUser.Address
    ) async throws {
        var histories: [LeaseHistory] = []
        var users: [LeaseUser] = []
        for (number, zone) in zones.enumerated() {
            let history = LeaseHistory(terms: zone.terms, leaseLimit: WitnessZones.leaseLimit, now: now)
            histories.append(history)
            for user in 1...Self.usersPerZone {
                users.append(
                    try await LeaseUser(
                        "\(zone.name)-\(user)", seed: seed &* 1000 &+ UInt64(number * 100 + user),
                        meters: ZoneMeters(zone: UInt8(number)), history: history, address: address,
                        enrolments: zone.enrolments, pin: pin))
            }
        }
        (self.histories, self.users) = (histories, users)
    }

    /// For as long as `body` runs.
    func run(_ body: () async throws -> Void) async throws {
        try await withThrowingDiscardingTaskGroup { group in
            for user in users { group.addTask { await user.run { !self.isOver.load(ordering: .relaxed) } } }
            defer { isOver.store(true, ordering: .relaxed) }
            try await body()
        }
    }
}

extension [LeaseHistory] {
    /// Calls, with an answer or without.
    var count: Int { reduce(0) { $0 + $1.count } }
    var figures: HistoryFigures { reduce(HistoryFigures()) { $0 + $1.figures } }

    /// The first thing that is wrong with any of them.
    var complaint: String? {
        for history in self { if let complaint = history.complaint() { return complaint } }
        return nil
    }
}
