import CloudAPI
import Domain

enum Formatting {
    /// Formats a duration: `250 ms`, `12 s`, `7.5 s`, `3 min`, `5 h`, `2 d`.
    static func time(_ milliseconds: Int64) -> String {
        switch milliseconds {
        case ..<1000: "\(milliseconds) ms"
        case ..<10_000 where milliseconds % 1000 >= 100: "\(milliseconds / 1000).\(milliseconds % 1000 / 100) s"
        case ..<120_000: "\(milliseconds / 1000) s"
        case ..<7_200_000: "\(milliseconds / 60_000) min"
        case ..<172_800_000: "\(milliseconds / 3_600_000) h"
        default: "\(milliseconds / 86_400_000) d"
        }
    }

    /// Returns text such as `57.3 of 100 MB`, in units of 1,048,576 bytes; a dash if an older server does not report
    /// sizes.
    static func megabytes(_ used: Int?, of limit: Int?) -> String {
        guard let used, let limit else { return "–" }
        return "\(tenths(used)) of \(tenths(limit)) MB"
    }

    /// Returns text such as `3600 of 200000`; a dash if unknown.
    static func count(_ used: Int?, of limit: Int?) -> String {
        guard let used, let limit else { return "–" }
        return "\(used) of \(limit)"
    }

    private static func tenths(_ bytes: Int) -> String {
        let (whole, rest) = bytes.quotientAndRemainder(dividingBy: 1 << 20)
        let tenth = (rest * 10) >> 20
        return tenth == 0 ? "\(whole)" : "\(whole).\(tenth)"
    }

    /// Returns `all` or `look`; a dash without a token, or if an older server does not report the role.
    static func role(_ role: String?) -> String {
        switch role {
        case HostRole.full.rawValue: "all"
        case HostRole.readOnly.rawValue: "look"
        default: role ?? "–"
        }
    }

    static func time(of stamp: Stamp) -> String {
        WallTime(millisecondsSince1970: Int64(clamping: stamp.milliseconds)).description
    }

    static func value(_ value: SettingValue) -> String {
        switch value {
        case .null: "null"
        case .bool(let value): "\(value)"
        case .int(let value): "\(value)"
        case .double(let value): "\(value)"
        case .string(let text): "\"\(text.visible)\""
        }
    }
}
