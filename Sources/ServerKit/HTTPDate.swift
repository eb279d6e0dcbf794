package import Domain
import Synchronization

/// The present time for HTTP's `Date` (RFC 9110, section 6.6.1), formatted at most once a second.
package final class HTTPDate: Sendable {
    private let now: @Sendable () -> WallTime
    private let last = Mutex<(second: Int64, text: String)?>(nil)

    package init(now: @escaping @Sendable () -> WallTime) { self.now = now }

    package var text: String {
        let now = now()
        let second = now.millisecondsSince1970 / 1000
        return last.withLock { last in
            if let last, last.second == second { return last.text }
            let text = Self.text(now)
            last = (second, text)
            return text
        }
    }

    private static let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    /// Returns a time in the form `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110, section 5.6.7), limited to the years 1970
    /// to 9999.
    package static func text(_ time: WallTime) -> String {
        let time = WallTime(millisecondsSince1970: min(max(time.millisecondsSince1970, 0), 253_402_300_799_999))
        // 1 January 1970 was a Thursday.
        let day = days[Int(time.millisecondsSince1970 / 86_400_000 % 7)]
        let words = time.description.split { "-T.".contains($0) }
        let month = Int(words[1]).map { months[$0 - 1] } ?? ""
        return "\(day), \(words[2]) \(month) \(words[0]) \(words[3]) GMT"
    }
}
