import CloudAPI
import Domain

struct PendingLogQuestion: PendingRequest {
    static let rules = PendingRules(
        noun: "questions about logs", offerTime: .milliseconds(CloudLimits.logMilliseconds), openPerHost: 4,
        countPerHost: 4, countPerZone: 256, bytesPerHost: 8 << 20, bytesPerZone: 16 << 20, bytesMax: 64 << 20,
        bytesAlways: 1 << 20)

    var asker: HostID
    var hosts: [HostID: AskedHost]

    func outcome(_ end: PendingEnd<RelayLogAnswer.Part>) -> LogAnswer {
        LogAnswer(parts: end.parts, silent: end.silent.mapValues(\.name))
    }
}

struct LogAnswer: Hashable {
    var parts: [HostID: RelayLogAnswer.Part] = [:]
    var silent: [HostID: String] = [:]

    /// Adds another replica's answer. Keeps only one part of a host that listened to both replicas, as during a switch.
    mutating func add(_ other: LogAnswer) {
        parts.merge(other.parts) { own, _ in own }
        silent.merge(other.silent) { own, _ in own }
        for host in parts.keys { silent[host] = nil }
    }
}
