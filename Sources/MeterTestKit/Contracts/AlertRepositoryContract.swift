import Domain
package import Gateway

/// Contract of `AlertRepository`. Each clause needs an empty repository.
package enum AlertRepositoryContract {
    package typealias Clause = ContractClause<any AlertRepository>

    package static var clauses: [Clause] {
        [
            Clause("rules_areNone_atFirst") { repository in
                try ContractViolation.requireEqual(try await repository.alerts(), [], "rules")
                try ContractViolation.requireEqual(try await repository.alertNotices(), [], "notices")
                try ContractViolation.requireEqual(try await repository.lastAlertNotice(), 0, "last number")
            },
            Clause("rule_comesBackWhole") { repository in
                let rule = try await add("current < 50mA for 2m", name: "a, b", notify: ["x", "y"], to: repository)
                try ContractViolation.requireEqual(try await repository.alerts(), [StoredAlert(rule)], "rules")
            },
            Clause("id_isNeverGivenAgain") { repository in
                let first = try await add("stale", to: repository)
                try await repository.deleteAlerts([first.id])
                let second = try await add("stale", to: repository)
                try ContractViolation.require(second.id > first.id, "\(second.id) follows \(first.id)")
            },
            Clause("standing_isKept") { repository in
                let rule = try await add("stale", to: repository)
                try await repository.keepAlerts(AlertChanges(standings: [rule.id: standing]))
                try ContractViolation.requireEqual(
                    try await repository.alerts(), [StoredAlert(rule, standing)], "rules")
            },
            Clause("notices_comeBack_untilTheyEnd") { repository in
                let rule = try await add("current < 50mA", to: repository)
                let entries = [entry(1, of: rule), entry(2, of: rule)]
                try await repository.keepAlerts(AlertChanges(sending: entries))
                try ContractViolation.requireEqual(try await repository.alertNotices(), entries, "notices")
                try await repository.keepAlerts(AlertChanges(sending: [entry(3, of: rule)], ended: [1, 3]))
                try ContractViolation.requireEqual(try await repository.alertNotices(), [entries[1]], "notices")
                try ContractViolation.requireEqual(try await repository.lastAlertNotice(), 3, "last number")
            },
            Clause("deletion_takesNoticesAlong_andThoseThatComeLate") { repository in
                let rule = try await add("stale", to: repository)
                try await repository.keepAlerts(AlertChanges(sending: [entry(1, of: rule)]))
                try await repository.deleteAlerts([rule.id])
                try await repository.keepAlerts(
                    AlertChanges(standings: [rule.id: standing], sending: [entry(2, of: rule)]))
                try ContractViolation.requireEqual(try await repository.alertNotices(), [], "notices")
                try ContractViolation.requireEqual(try await repository.alerts(), [], "rules")
            },
            Clause("move_isOfOneMetersRules") { repository in
                let rule = try await add("stale", to: repository)
                try await repository.moveAlerts(from: .mac(MACAddress(bits: 9)), to: other)
                try ContractViolation.requireEqual(try await repository.alerts().map(\.rule.meter), [meter], "meters")
                try await repository.moveAlerts(from: meter, to: other)
                try ContractViolation.requireEqual(try await repository.alerts().map(\.rule.meter), [other], "meters")
                try ContractViolation.requireEqual(try await repository.alerts().map(\.rule.id), [rule.id], "ids")
            },
        ]
    }

    private static let meter = MeterID.mac(MACAddress(bits: 0x0200_0000_250C))
    private static let other = MeterID.mac(MACAddress(bits: 0x0200_0000_340C))

    private static func add(
        _ condition: String, name: String? = nil, notify: [String] = [], to repository: any AlertRepository
    ) async throws -> AlertRule {
        try await repository.addAlert(
            try AlertParser.pattern(condition), of: meter, name: name, notify: notify)
    }

    private static var standing: AlertSnapshot {
        var standing = AlertSnapshot()
        (standing.isRaised, standing.count, standing.value) = (true, 3, 0.25)
        standing.raisedAt = WallTime(millisecondsSince1970: 1_795_000_000_000)
        standing.clearedAt = WallTime(millisecondsSince1970: 1_794_000_000_000)
        standing.holder = "a host"
        return standing
    }

    private static func entry(_ number: Int64, of rule: AlertRule) -> AlertOutbox.Entry {
        var notice = AlertNotice(
            .raised, rule, meterName: "bench", value: 0.5, at: WallTime(millisecondsSince1970: 1_795_000_000_000))
        notice.holder = "h"
        return AlertOutbox.Entry(number: number, target: "phone", notice: notice)
    }
}
