import Domain
package import Gateway
import GatewayAPI
package import Hummingbird

/// Alert rules: `/v1/alerts`.
package struct AlertRoutes: RouteGroup {
    private let directory: MeterDirectory
    private let alerts: AlertService

    package init(directory: MeterDirectory, alerts: AlertService) {
        self.directory = directory
        self.alerts = alerts
    }

    package func add(to api: RouterGroup<BasicRequestContext>) {
        api.get("alerts") { _, _ in
            try JSON.response(AlertsBody(await alerts.list(), of: alerts))
        }
        api.post("alerts") { request, _ in
            let body = try await JSON.decode(AlertRequest.self, from: request)
            let meter = try await directory.watched(body.meter)
            let entry = try await alerts.add(body.condition, of: meter, name: body.name, notify: body.notify ?? [])
            var answer = AlertBody(entry)
            answer.verdict = await directory.verdict(on: entry.rule)
            return try JSON.response(answer)
        }
        let alert = api.group("alerts/:alert")
        alert.get { _, context in
            try JSON.response(AlertBody(try await alerts.entry(try MeterRoutes.reference("alert", in: context))))
        }
        alert.delete { _, context in
            try JSON.response(AlertBody(try await alerts.remove(try MeterRoutes.reference("alert", in: context))))
        }
        alert.post("test") { _, context in
            let results = try await alerts.test(try MeterRoutes.reference("alert", in: context))
            return try JSON.response(AlertTestBody(results: results.map { .init($0.target, $0.delivery) }))
        }
    }
}

extension AlertsBody {
    init(_ entries: [AlertEntry], of alerts: AlertService) {
        self.init(
            alerts: entries.map { AlertBody($0) }, raised: entries.count(where: \.standing.isRaised),
            targets: alerts.targets)
    }
}

extension AlertBody {
    init(_ entry: AlertEntry) {
        let (rule, standing) = (entry.rule, entry.standing)
        let condition = rule.pattern.condition
        let state =
            condition == .broken
            ? "broken" : standing.isRaised ? "raised" : condition.isMomentary ? "momentary" : "quiet"
        self.init(
            id: rule.id.rawValue, meter: rule.meter.description, condition: rule.pattern.text, notify: rule.notify,
            state: state, count: standing.count)
        (name, meter_name) = (rule.name, entry.meterName)
        (raised_at, cleared_at) = (standing.raisedAt?.description, standing.clearedAt?.description)
        quantity = condition.quantity?.key
        value = standing.value
    }
}

extension AlertTestBody.Result {
    fileprivate init(_ target: String, _ delivery: AlertDelivery) {
        switch delivery {
        case .delivered: self.init(target: target, delivered: true, error: nil)
        case .failed(let why), .refused(let why): self.init(target: target, delivered: false, error: why)
        }
    }
}
