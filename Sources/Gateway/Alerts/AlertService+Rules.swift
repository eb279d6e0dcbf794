package import Domain
package import GatewayAPI
import Logging
import Synchronization

extension AlertService {
    // MARK: What people ask for

    package var raisedCount: Int { meters.parts(AlertTrack.self).reduce(0) { $0 + $1.raisedCount } }

    /// Rules with their states. Meter names date from the last event or the last call of `list`.
    package var entries: [AlertEntry] {
        state.withLock { state in
            state.rules.values.sorted { $0.id < $1.id }.map { rule in
                AlertEntry(
                    rule: rule, standing: track(of: rule.meter)?.standing(of: rule.id) ?? AlertSnapshot(),
                    meterName: state.names[rule.meter])
            }
        }
    }

    package func list() async -> [AlertEntry] {
        let facts = await facts(of: Set(state.withLock { Array($0.rules.values) }.map(\.meter)).sorted())
        state.withLock { state in for (meter, facts) in facts { state.names[meter] = facts.name } }
        return entries
    }

    package var targets: [AlertTarget] {
        let targets = notifier.targets
        return state.withLock { state in
            targets.map { target in
                let figures = state.outbox.figures(of: target.name)
                return AlertTarget(
                    name: target.name, kind: target.kind, waiting: figures.waiting, delivered: figures.delivered,
                    lost: figures.lost, error: figures.error)
            }
        }
    }

    /// - Throws: `badRequest` for an invalid condition, name or target; `refused` for a used name or beyond `rulesMax`.
    package func add(
        _ condition: String, of meter: MeterID, name: String?, notify: [String]
    ) async throws(GatewayError) -> AlertEntry {
        let pattern: AlertPattern
        do {
            pattern = try AlertParser.pattern(condition)
        } catch {
            throw GatewayError(.badRequest, "\"\(condition.prefix(80).visible)\": \(error.message)", next: error.next)
        }
        try check(name: name)
        try check(notify: notify)
        guard state.withLock({ $0.rules.count }) < Self.rulesMax else {
            throw GatewayError(
                .refused, "this host has \(Self.rulesMax) alerts, the maximum",
                next: "remove one; meterctl alert list shows them")
        }
        let rule = try await GatewayError.doing("adding an alert") {
            try await repository.addAlert(pattern, of: meter, name: name, notify: notify)
        }
        state.withLock { $0.rules[rule.id] = rule }
        add(rule)
        logger.info(
            "alert added", metadata: ["meter.id": "\(meter)", "alert": "\(rule.id)", "condition": "\(pattern.text)"])
        arm()
        return try await entry("\(rule.id)")
    }

    private func check(name: String?) throws(GatewayError) {
        guard let name else { return }
        guard (1...64).contains(name.count), !name.contains(where: \.isControl), Int64(name) == nil else {
            throw GatewayError(
                .badRequest, "an alert cannot be called \"\(name.prefix(80).visible)\"",
                next: "a name has 1 to 64 characters and is not a number")
        }
        let isTaken = state.withLock { state in
            state.rules.values.contains { $0.name?.lowercased() == name.lowercased() }
        }
        guard !isTaken else {
            throw GatewayError(
                .refused, "an alert is called \"\(name)\" already", next: "give it another name, or none")
        }
    }

    /// - Throws: `badRequest` for unknown, repeated or too many targets.
    package func check(notify: [String]) throws(GatewayError) {
        let known = notifier.targets.map(\.name)
        guard notify.count <= Self.notifyMax, Set(notify).count == notify.count else {
            throw GatewayError(
                .badRequest, "\(notify.count) notification targets are too many, or one is repeated",
                next: "give at most \(Self.notifyMax) different names")
        }
        guard let unknown = notify.first(where: { !known.contains($0) }) else { return }
        let legal = known.isEmpty ? "meterd.toml has none yet" : "meterd.toml has \(known.joined(separator: ", "))"
        throw GatewayError(
            .badRequest, "meterd.toml has no [notify.\(unknown.prefix(40).visible)]",
            next: "\(legal); Docs/Alerts.md says how to add one")
    }

    /// - Parameter reference: id or name.
    /// - Throws: `notFound`.
    package func entry(_ reference: String) async throws(GatewayError) -> AlertEntry {
        let all = await list()
        let wanted = reference.lowercased()
        let found = all.first { "\($0.rule.id)" == reference } ?? all.first { $0.rule.name?.lowercased() == wanted }
        guard let found else {
            throw GatewayError(
                .notFound, "no alert is called \"\(reference.prefix(80).visible)\"",
                next: "meterctl alert list shows them")
        }
        return found
    }

    package func remove(_ reference: String) async throws(GatewayError) -> AlertEntry {
        let entry = try await entry(reference)
        try await delete([entry.rule])
        logger.info("alert removed", metadata: ["alert": "\(entry.rule.id)"])
        return entry
    }

    private func delete(_ rules: [AlertRule]) async throws(GatewayError) {
        try await GatewayError.doing("removing an alert") { try await repository.deleteAlerts(rules.map(\.id)) }
        for rule in rules {
            state.withLock { state in
                state.rules[rule.id] = nil
                state.unwritten.standings[rule.id] = nil
                _ = state.outbox.remove(rule.id)
            }
            track(of: rule.meter)?.remove(rule.id)
            changes.mark(.host)
            meters.dropUnneeded(rule.meter)
        }
    }

    /// Sends a test notice once to each target of a rule.
    ///
    /// - Throws: `refused` if there are no targets.
    package func test(_ reference: String) async throws(GatewayError) -> [(target: String, delivery: AlertDelivery)] {
        let entry = try await entry(reference)
        guard !entry.rule.notify.isEmpty else {
            throw GatewayError(
                .refused, "alert \(entry.rule.id) notifies nobody",
                next: "add an alert that does: meterctl alert add … --notify NAME")
        }
        let notice = AlertNotice(.test, entry.rule, meterName: entry.meterName, at: loop.wallNow)
        let notifier = notifier
        let deliveries = await withTaskGroup(of: (String, AlertDelivery).self) { group in
            for target in entry.rule.notify {
                group.addTask { (target, await notifier.send(notice, number: 0, to: target)) }
            }
            var deliveries: [String: AlertDelivery] = [:]
            for await (target, delivery) in group { deliveries[target] = delivery }
            return deliveries
        }
        return entry.rule.notify.map { ($0, deliveries[$0] ?? .failed("it did not answer")) }
    }

    // MARK: Meters that go

    private func rules(of meter: MeterID) -> [AlertRule] {
        state.withLock { state in state.rules.values.filter { $0.meter == meter } }
    }

    package func forget(_ meter: MeterID, readings isDropped: Bool) async throws -> Int {
        let rules = rules(of: meter)
        if !rules.isEmpty { try await delete(rules) }
        return 0
    }

    package func merge(_ alias: MeterID, into meter: MeterID) async throws {
        let rules = rules(of: alias)
        guard !rules.isEmpty else { return }
        try await repository.moveAlerts(from: alias, to: meter)
        for var rule in rules {
            let standing = track(of: alias)?.remove(rule.id)
            rule.meter = meter
            state.withLock { $0.rules[rule.id] = rule }
            add(rule, standing ?? AlertSnapshot())
        }
        meters.dropUnneeded(alias)
    }
}
