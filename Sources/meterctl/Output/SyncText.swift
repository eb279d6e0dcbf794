import Domain
import GatewayAPI
import ProgramKit

enum SyncText {
    static func table(_ result: SyncResultBody) -> Table {
        var table = Table(["TYPE", "TOLD", "FETCHED", "UNCHANGED", "PARKED"])
        for type in result.types {
            table.add([
                .init(type.type), .init("\(type.pushed)"), .init("\(type.fetched)"), .init("\(type.unchanged)"),
                .init("\(type.parked)", type.parked > 0 ? .yellow : nil),
            ])
        }
        return table
    }

    /// Returns text such as `complete in 120 ms, 3 skipped`.
    static func summary(_ result: SyncResultBody) -> String {
        "\(result.end) in \(Formatting.age(milliseconds: result.duration_ms)), \(result.skipped) skipped"
    }

    /// Returns text such as `fetch`, or `halted: …`.
    static func mode(_ status: SyncStatusBody) -> String {
        let words = status.cancelling ? "\(status.mode), being cancelled" : status.mode
        return status.halt.map { "\(words): \($0)" } ?? words
    }

    static func table(_ status: SyncStatusBody, _ times: TimeText) -> Table {
        var table = Table(["FIELD", "VALUE"])
        func add(_ field: String, _ value: String?) { table.add([.init(field), .init(value ?? "–")]) }
        add("zone", status.zone)
        add("mode", mode(status) + (status.again ? ", and another run after this one" : ""))
        add(
            "to tell",
            waiting(status) + (status.parked > 0 ? ", \(status.parked) parked: meterctl sync parked" : ""))
        if status.held_back > 0 {
            add("no room for", "\(status.held_back) records, which wait here" + fullness(status))
        }
        for waiting in status.put_off ?? [] { add("waits", "\(waiting.type) \(waiting.name): \(waiting.reason)") }
        add("to fetch", status.unread.isEmpty ? "nothing" : status.unread.joined(separator: ", "))
        if !status.refetching.isEmpty { add("read anew", status.refetching.joined(separator: ", ")) }
        add("last success", status.last_success_ms.map { times.text(WallTime(millisecondsSince1970: $0)) })
        // `failures` may be 0: a halt is an error, but does not count as a failed sync.
        add("error", status.error.map { status.failures > 0 ? "\($0) (\(status.failures) times)" : $0 })
        if let retry = status.retry_in_ms { add("next attempt", "in " + Formatting.age(milliseconds: retry)) }
        add("next poll", status.poll_in_ms.map { "in " + Formatting.age(milliseconds: $0) })
        add(
            "event stream",
            status.stream + (status.stream_age_ms.map { ", heard \(Formatting.age(milliseconds: $0)) ago" } ?? ""))
        add("last push", status.push_age_ms.map { "\(Formatting.age(milliseconds: $0)) ago" })
        add("network", status.network.map(network))
        add("clock", status.clock_behind_ms.map { clock(aheadBy: -$0) })
        add("store", status.epoch)
        let counters = status.counters
        add(
            "counted",
            "\(counters.runs) runs, \(counters.complete) complete, \(counters.failed) failed, "
                + "\(counters.cancelled) cancelled, \(counters.pages) pages, \(counters.batches) batches")
        return table
    }

    /// Returns text such as `12 changes`. On a read-only host, adds why the changes wait.
    private static func waiting(_ status: SyncStatusBody) -> String {
        let changes = "\(status.pending) changes"
        guard status.role == HostRole.readOnly.rawValue, status.pending > 0 else { return changes }
        return "\(changes), which stay here: this host may only look, until it joins with another token"
    }

    private static func fullness(_ status: SyncStatusBody) -> String {
        let retry =
            status.full_retry_in_ms.map { ", some are tried again in " + Formatting.age(milliseconds: $0) } ?? ""
        return retry + (status.full.map { ": \($0)" } ?? "")
    }

    private static func network(_ network: SyncStatusBody.Network) -> String {
        guard network.satisfied else { return "none" }
        return [network.kind, network.interface].compactMap { $0 }.joined(separator: " ")
    }

    static func clock(aheadBy milliseconds: Int64) -> String {
        guard milliseconds != 0 else { return "as the cloud's" }
        let span = Formatting.age(milliseconds: Int64(clamping: milliseconds.magnitude))
        return "\(span) \(milliseconds > 0 ? "ahead of" : "behind") the cloud's"
    }
}
