package import Domain

/// Keeps the rules of this host, how they stand, and the notices that are on their way.
package protocol AlertRepository: Sendable {
    /// All rules, in the order of their ids. One that only a newer version understands is left out and stays.
    func alerts() async throws -> [StoredAlert]
    /// Adds a rule under an id that no rule of this host ever had.
    func addAlert(_ pattern: AlertPattern, of meter: MeterID, name: String?, notify: [String]) async throws -> AlertRule
    /// Writes how rules stand, and which notices are on their way or no longer: all of it or nothing. A notice of a rule
    /// that is gone is left out.
    func keepAlerts(_ changes: AlertChanges) async throws
    /// From now on the rules are the other meter's.
    func moveAlerts(from meter: MeterID, to other: MeterID) async throws
    /// Deletes rules with their notices. Harmless for those that are not there.
    func deleteAlerts(_ ids: [AlertID]) async throws
    /// Notices on their way, in the order of their numbers.
    func alertNotices() async throws -> [AlertOutbox.Entry]
    /// The greatest number that a notice of this host ever had; 0 before the first.
    func lastAlertNotice() async throws -> Int64
}

package struct StoredAlert: Hashable, Sendable {
    package var rule: AlertRule
    package var standing: AlertStanding

    package init(_ rule: AlertRule, _ standing: AlertStanding = AlertStanding()) {
        self.rule = rule
        self.standing = standing
    }
}

package struct AlertChanges: Hashable, Sendable {
    package var standings: [AlertID: AlertStanding]
    package var sending: [AlertOutbox.Entry]
    /// The numbers of notices that are delivered or given up.
    package var ended: [Int64]

    package init(
        standings: [AlertID: AlertStanding] = [:], sending: [AlertOutbox.Entry] = [], ended: [Int64] = []
    ) {
        self.standings = standings
        self.sending = sending
        self.ended = ended
    }

    package var isEmpty: Bool { standings.isEmpty && sending.isEmpty && ended.isEmpty }
}
