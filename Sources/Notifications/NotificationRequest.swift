import Domain
import FoundationEssentials
import GatewayAPI

/// An HTTP request as a value, so that tests need no server.
struct NotificationRequest: Hashable, Sendable {
    var url: String
    var headers: [String: String]
    var body: String

    init(_ notice: AlertNotice, number: Int64, webhook address: NotificationAddress, host: String, token: String?)
        throws
    {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let json = try encoder.encode(AlertNoticeBody(notice, number: number, host: host))
        url = address.text
        headers = ["content-type": "application/json"]
        if let token { headers["authorization"] = "Bearer \(token)" }
        body = String(decoding: json, as: UTF8.self)
    }

    /// Creates a request for ntfy (<https://docs.ntfy.sh/publish/>). Title and tag are in the query, which allows any
    /// characters.
    init(_ notice: AlertNotice, ntfy address: NotificationAddress, token: String?) {
        let separator = address.text.contains("?") ? "&" : "?"
        let tag =
            switch notice.event {
            case .raised, .happened: "warning"
            case .cleared, .finished: "white_check_mark"
            case .test: "wrench"
            }
        url = "\(address.text)\(separator)title=\(notice.title.percentEncoded)&tags=\(tag)"
        headers = ["content-type": "text/plain; charset=utf-8"]
        if let token { headers["authorization"] = "Bearer \(token)" }
        body = notice.message
    }

    /// Creates a request for Gotify (<https://gotify.net/docs/pushmsg>).
    init(_ notice: AlertNotice, gotify address: NotificationAddress, token: String?) throws {
        struct Message: Encodable {
            var title: String
            var message: String
            var priority: Int
        }
        let base = address.text.hasSuffix("/") ? String(address.text.dropLast()) : address.text
        let message = Message(
            title: notice.title, message: notice.message, priority: notice.event == .raised ? 5 : 3)
        url = "\(base)/message"
        headers = ["content-type": "application/json"]
        if let token { headers["x-gotify-key"] = token }
        body = String(decoding: try JSONEncoder().encode(message), as: UTF8.self)
    }
}

extension AlertNoticeBody {
    init(_ notice: AlertNotice, number: Int64, host: String) {
        self.init(
            number: number, event: notice.event.rawValue,
            alert: Rule(id: notice.rule.rawValue, name: notice.name, condition: notice.condition),
            meter: Meter(id: notice.meter.description, name: notice.meterName), at: notice.at.description, host: host,
            title: notice.title, message: notice.message)
        quantity = notice.quantity?.key
        value = notice.value
        unit = notice.quantity?.unit
        holder = notice.holder
        result = notice.result.map { Result($0) }
    }
}

extension AlertNoticeBody.Result {
    fileprivate init(_ result: TestResult) {
        self.init(
            recording: result.recording, end: result.end, duration_ms: result.duration.milliseconds,
            gap_ms: result.gapTime.milliseconds)
        (charge_mAh, energy_Wh) = (result.charge_mAh, result.energy_Wh)
    }
}

extension AlertNotice {
    /// Returns the environment variables of a notification program. They contain no secret.
    func environment(number: Int64, host: String) -> [String: String] {
        var facts = [
            "METER_ALERT_NUMBER": "\(number)", "METER_ALERT_EVENT": event.rawValue, "METER_ALERT_ID": "\(rule)",
            "METER_ALERT_NAME": name ?? "", "METER_ALERT_CONDITION": condition, "METER_ALERT_AT": at.description,
            "METER_ALERT_TITLE": title, "METER_ALERT_MESSAGE": message, "METER_ID": meter.description,
            "METER_NAME": meterName ?? "", "METER_HOST": host,
        ]
        facts["METER_ALERT_QUANTITY"] = quantity?.key
        facts["METER_ALERT_VALUE"] = value.map { "\($0)" }
        facts["METER_ALERT_HOLDER"] = holder
        facts["METER_TEST_RECORDING"] = result?.recording
        facts["METER_TEST_END"] = result?.end
        facts["METER_TEST_CHARGE_MAH"] = result?.charge_mAh.map { "\($0)" }
        facts["METER_TEST_ENERGY_WH"] = result?.energy_Wh.map { "\($0)" }
        // A NUL character would end the text, because the environment uses C strings.
        return facts.mapValues { $0.filter { $0 != "\0" } }
    }
}
