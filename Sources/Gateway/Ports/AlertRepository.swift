package import Domain

package protocol AlertRepository: Sendable {
    /// Returns all rules in the order of their ids. Omits rules that need a newer version.
    func alerts() async throws -> [StoredAlert]
    /// Adds a rule with an id that no rule of this host ever had.
    func addAlert(_ pattern: AlertPattern, of meter: MeterID, name: String?, notify: [String]) async throws -> AlertRule
    /// Writes all changes or none. Omits notices of deleted rules.
    func keepAlerts(_ changes: AlertChanges) async throws
    func moveAlerts(from meter: MeterID, to other: MeterID) async throws
    /// Deletes rules with their notices; ignores missing ones.
    func deleteAlerts(_ ids: [AlertID]) async throws
    func alertNotices() async throws -> [AlertOutbox.Entry]
    /// Returns the greatest notice number ever used; 0 before the first.
    func lastAlertNotice() async throws -> Int64
}

package struct StoredAlert: Hashable, Sendable {
    package var rule: AlertRule
    package var standing: AlertSnapshot

    package init(_ rule: AlertRule, _ standing: AlertSnapshot = AlertSnapshot()) {
        self.rule = rule
        self.standing = standing
    }
}

package struct AlertChanges: Hashable, Sendable {
    package var standings: [AlertID: AlertSnapshot]
    package var sending: [AlertOutbox.Entry]
    /// Numbers of notices delivered or given up.
    package var ended: [Int64]

    package init(
        standings: [AlertID: AlertSnapshot] = [:], sending: [AlertOutbox.Entry] = [], ended: [Int64] = []
    ) {
        self.standings = standings
        self.sending = sending
        self.ended = ended
    }

    package var isEmpty: Bool { standings.isEmpty && sending.isEmpty && ended.isEmpty }
}
