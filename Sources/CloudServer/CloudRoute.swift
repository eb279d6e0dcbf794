package import Hummingbird

/// All routes, used by the router, as labels of metrics, and by a test of Docs/openapi.yaml.
package enum CloudRoute: String, CaseIterable, Sendable {
    case health
    case metrics
    case join
    case account
    case createZone
    case modifyRecords
    case changes
    case events
    case leases
    case renewLeases
    case acquireLease
    case releaseLease
    case revokeLease
    case enqueue
    case leaveQueue
    case retireHost
    case watchReadings
    case relayReadings
    case commandMeter
    case claimCommand
    case answerCommand
    case meterLog
    case answerLog
    case copyNews
    case copyQuestion

    package var method: HTTPRequest.Method {
        switch self {
        case .health, .metrics, .account, .changes, .events, .leases, .watchReadings, .meterLog: .get
        case .createZone: .put
        case .leaveQueue: .delete
        case .join, .modifyRecords, .renewLeases, .acquireLease, .releaseLease, .revokeLease, .enqueue, .retireHost,
            .relayReadings, .commandMeter, .claimCommand, .answerCommand, .answerLog, .copyNews, .copyQuestion:
            .post
        }
    }

    /// Path with parameters as in OpenAPI and the router: `/v1/zones/{zone}`.
    package var path: String {
        switch self {
        case .health: "/v1/health"
        case .metrics: "/metrics"
        case .join: "/v1/hosts"
        case .account: "/v1/account"
        case .createZone: "/v1/zones/{zone}"
        case .modifyRecords: "/v1/zones/{zone}/records/modify"
        case .changes: "/v1/zones/{zone}/changes"
        case .events: "/v1/zones/{zone}/events"
        case .leases: "/v1/zones/{zone}/leases"
        case .renewLeases: "/v1/zones/{zone}/leases/renew"
        case .acquireLease: "/v1/zones/{zone}/leases/{meter}/acquire"
        case .releaseLease: "/v1/zones/{zone}/leases/{meter}/release"
        case .revokeLease: "/v1/zones/{zone}/leases/{meter}/revoke"
        case .retireHost: "/v1/zones/{zone}/hosts/{host}/retire"
        case .enqueue, .leaveQueue: "/v1/zones/{zone}/leases/{meter}/queue"
        case .commandMeter: "/v1/zones/{zone}/meters/{meter}/commands"
        case .claimCommand: "/v1/zones/{zone}/meters/{meter}/commands/{request}/claim"
        case .answerCommand: "/v1/zones/{zone}/meters/{meter}/commands/{request}/answer"
        case .meterLog: "/v1/zones/{zone}/meters/{meter}/log"
        case .answerLog: "/v1/zones/{zone}/meters/{meter}/log/{request}"
        case .watchReadings, .relayReadings: "/v1/zones/{zone}/meters/{meter}/readings"
        case .copyNews: "/v1/copies/news"
        case .copyQuestion: "/v1/copies/ask"
        }
    }

    var isAboutLeases: Bool { path.hasPrefix(Self.leases.path) }

    package var needsToken: Bool { access != .open && !isForCopies }

    /// Whether the route is only for other replicas, so that Docs/openapi.yaml omits it.
    package var isForCopies: Bool { access == .copies }

    package enum Access: Hashable, Sendable {
        case open
        /// Shared secret of the replicas.
        case copies
        /// Any host's token: the call changes nothing, or only the host's own record.
        case looking
        /// Any host's token; `CloudService.modify` checks the records one by one.
        case records
        /// A token with all rights: the call affects other hosts of the zone.
        case changing
    }

    package var access: Access {
        switch self {
        case .health, .metrics: .open
        case .copyNews, .copyQuestion: .copies
        case .join, .account, .createZone, .changes, .events, .leases, .watchReadings, .meterLog: .looking
        // Read-only hosts may also answer, because a host sends only its own log. Otherwise the requesting host would
        // wait in vain.
        case .answerLog: .looking
        case .modifyRecords: .records
        case .renewLeases, .acquireLease, .releaseLease, .revokeLease, .enqueue, .leaveQueue, .retireHost,
            .relayReadings, .commandMeter, .claimCommand, .answerCommand:
            .changing
        }
    }

    /// Methods of a path; empty if it is unknown.
    package static func methods(of path: String) -> [HTTPRequest.Method] {
        let parts = path.split(separator: "/")
        return allCases.filter { route in
            let template = route.path.split(separator: "/")
            return template.count == parts.count
                && zip(template, parts).allSatisfy { $0 == $1 || $0.hasPrefix("{") }
        }.map(\.method)
    }
}
