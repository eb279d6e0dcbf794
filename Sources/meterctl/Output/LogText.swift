import GatewayAPI
import ProgramKit

enum LogText {
    static func table(_ lines: [LogLineBody], _ times: TimeText) -> Table {
        var table = Table(["WHEN", "UNTIL", "TIMES", "HOST", "WHAT", "BY"])
        for line in lines {
            // Leave the end of an event without duration empty. An event without an end still lasts.
            let until = line.until.map { $0 == line.at ? "" : times.text($0) } ?? "now"
            table.add([
                .init(times.text(line.at), isWhole: true), .init(until, isWhole: true),
                .init(line.count > 1 ? Formatting.count(line.count) : ""),
                .init(line.host ?? ""), .init(what(line)), .init(line.by ?? ""),
            ])
        }
        return table
    }

    /// Describes an event: `held over ble, token 7: given back`, `offline: device gone` or `name = Bench`.
    static func what(_ line: LogLineBody) -> String {
        switch line.kind {
        case "held":
            let end = line.until == nil ? "" : ": \(line.detail ?? "ended")"
            return "held over \(line.what), \(tokens(line))\(end)"
        case "setting" where line.detail == "deleted" && line.what == "all settings": return "all settings deleted"
        case "setting": return "\(line.what) = \(line.detail ?? "default")"
        case "mark": return "mark \"\(line.what)\""
        case "remedy":
            let adapter = line.adapter.map { " (adapter \($0))" } ?? ""
            return "\(line.what)\(adapter)\(line.detail.map { ": \($0)" } ?? "")"
        default: return "\(line.what)\(line.detail.map { ": \($0)" } ?? "")"
        }
    }

    private static func tokens(_ line: LogLineBody) -> String {
        guard let first = line.token else { return "without a lease" }
        guard let last = line.last_token, last != first else { return "token \(first)" }
        return "tokens \(first) to \(last)"
    }

    /// Returns lines about missing parts of the log, with reasons.
    static func closing(_ body: LogBody) -> [String] {
        var said: [String] = []
        if body.cut { said.append("there are older lines: --limit and --since show more of them") }
        switch body.others {
        case .none: said.append("only this host's part: it belongs to no cloud")
        case .unreachable:
            said.append("only this host's part: the cloud cannot be asked (\(body.error ?? "no reason given"))")
        case .asked, .unasked: break
        }
        if !body.silent.isEmpty {
            said.append("no answer from \(body.silent.joined(separator: ", ")): their part is missing")
        }
        if !body.unshared.isEmpty {
            let hosts = body.unshared.joined(separator: ", ")
            said.append("\(hosts) \(body.unshared.count == 1 ? "shares" : "share") nothing of what happened there")
        }
        return said
    }
}
