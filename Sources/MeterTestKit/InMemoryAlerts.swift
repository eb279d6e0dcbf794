package import Domain
package import Gateway

/// Alerts that are kept in memory, and fail when a test says so.
package actor InMemoryAlerts: AlertRepository {
    private var rules: [AlertID: StoredAlert] = [:]
    private var notices: [Int64: AlertOutbox.Entry] = [:]
    private var lastID: Int64 = 0
    private var lastNumber: Int64 = 0
    private var failure: StoreError?

    package init() {}

    /// Makes every call that writes throw `error` from now on; nil ends that.
    package func failWrites(with error: StoreError?) { failure = error }

    private func checkWritable() throws(StoreError) {
        if let failure { throw failure }
    }

    package func alerts() -> [StoredAlert] { rules.values.sorted { $0.rule.id < $1.rule.id } }

    package func addAlert(
        _ pattern: AlertPattern, of meter: MeterID, name: String?, notify: [String]
    ) throws(StoreError) -> AlertRule {
        try checkWritable()
        lastID += 1
        let rule = AlertRule(
            id: AlertID(rawValue: lastID), meter: meter, pattern: pattern, name: name, notify: notify)
        rules[rule.id] = StoredAlert(rule)
        return rule
    }

    package func keepAlerts(_ changes: AlertChanges) throws(StoreError) {
        try checkWritable()
        for (id, standing) in changes.standings { rules[id]?.standing = standing }
        for entry in changes.sending where rules[entry.notice.rule] != nil {
            notices[entry.number] = entry
            lastNumber = max(lastNumber, entry.number)
        }
        for number in changes.ended { notices[number] = nil }
    }

    package func moveAlerts(from meter: MeterID, to other: MeterID) throws(StoreError) {
        try checkWritable()
        for id in rules.keys where rules[id]?.rule.meter == meter { rules[id]?.rule.meter = other }
    }

    package func deleteAlerts(_ ids: [AlertID]) throws(StoreError) {
        try checkWritable()
        for id in ids {
            rules[id] = nil
            notices = notices.filter { $0.value.notice.rule != id }
        }
    }

    package func alertNotices() -> [AlertOutbox.Entry] { notices.values.sorted { $0.number < $1.number } }

    package func lastAlertNotice() -> Int64 { lastNumber }
}
