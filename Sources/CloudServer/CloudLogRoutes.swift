import Cloud
import CloudAPI
import Hummingbird

/// Routes of meters' logs (Docs/Relay.md#the-meters-log).
extension CloudRoutes {
    func respondLog(_ call: Call, by principal: Principal) async throws -> Response {
        let (meter, zone) = (try call.meter, try call.zone)
        guard call.route == .answerLog else {
            return try JSON.response(
                try await service.log(of: meter, within: try call.milliseconds("within"), in: zone, by: principal))
        }
        let body = try await JSON.decode(RelayLogPart.self, from: call.request)
        try await service.answerLog(body, try call.command, in: zone, by: principal)
        return try JSON.response([String: String]())
    }
}

extension Call {
    /// Nil if the parameter is missing.
    fileprivate func milliseconds(_ name: String) throws(CloudFailure) -> Int64? {
        guard let text = query(name) else { return nil }
        guard let number = Int64(text), number >= 0 else {
            throw CloudFailure(
                .badRequest,
                "\(name) cannot be \"\(text.prefix(64))\"; it takes a whole number of milliseconds, 0 or more")
        }
        return number
    }
}
