import Cloud
import CloudAPI
import Domain
import Hummingbird
import ServerKit

struct Call {
    let route: CloudRoute
    let request: Request
    let context: CloudRequestContext

    var token: BearerToken {
        get throws(CloudFailure) {
            guard let header = request.headers[.authorization] else {
                throw CloudFailure(
                    .notAuthenticated, "\(request.uri.path) needs a token: the header Authorization: Bearer mgt_…")
            }
            guard let token = BearerToken(authorization: header) else {
                throw CloudFailure(
                    .notAuthenticated, "the Authorization header holds no token of this cloud; one is Bearer mgt_…")
            }
            return token
        }
    }

    var zone: String { get throws(CloudFailure) { try parameter("zone") } }
    var host: String { get throws(CloudFailure) { try parameter("host") } }
    var meter: String { get throws(CloudFailure) { try parameter("meter") } }
    var command: String { get throws(CloudFailure) { try parameter("request") } }

    var limit: Int? {
        get throws(CloudFailure) {
            guard let text = query("limit") else { return nil }
            guard let limit = Int(text) else {
                throw CloudFailure(.badRequest, "limit cannot be \"\(text)\"; it takes a whole number")
            }
            return limit
        }
    }

    func query(_ name: String) -> String? {
        request.uri.queryParameters[name[...]].map { String($0) }
    }

    /// Returns a parameter that is `true` or `false`; false if it is missing.
    func flag(_ name: String) throws(CloudFailure) -> Bool {
        switch query(name) {
        case nil, "false": return false
        case "true": return true
        case let text?:
            throw CloudFailure(.badRequest, "\(name) cannot be \"\(text.prefix(64))\"; it takes true or false")
        }
    }

    func required(_ name: String) throws(CloudFailure) -> String {
        guard let value = query(name), !value.isEmpty else {
            throw CloudFailure(.badRequest, "\(request.uri.path) needs the query parameter \(name)")
        }
        guard value.utf8.count <= CloudLimits.nameBytes else {
            throw CloudFailure(.badRequest, "\(name) is longer than \(CloudLimits.nameBytes) bytes")
        }
        return value
    }

    private func parameter(_ name: String) throws(CloudFailure) -> String {
        let raw = context.parameters.get(name) ?? ""
        guard let decoded = raw.percentDecoded, !decoded.isEmpty else {
            throw CloudFailure(.badRequest, "\"\(raw)\" is not properly percent-encoded; encode % as %25")
        }
        return decoded
    }
}
