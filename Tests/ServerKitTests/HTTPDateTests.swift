import Domain
import ServerKit
import Synchronization
import Testing

struct HTTPDateTests {
    /// The first from RFC 9110, section 5.6.7; the others from `date -uR -d @SECONDS`.
    @Test(arguments: [
        (784_111_777_000, "Sun, 06 Nov 1994 08:49:37 GMT"),
        (0, "Thu, 01 Jan 1970 00:00:00 GMT"),
        (951_827_696_999, "Tue, 29 Feb 2000 12:34:56 GMT"),
        (1_798_761_599_000, "Thu, 31 Dec 2026 23:59:59 GMT"),
        (253_402_300_799_999, "Fri, 31 Dec 9999 23:59:59 GMT"),
    ])
    func moment_isSaidAsTheStandardDoes(milliseconds: Int64, text: String) {
        #expect(HTTPDate.text(WallTime(millisecondsSince1970: milliseconds)) == text)
    }

    @Test(arguments: [Int64.min, -1, .max])
    func momentOutOfRange_isSaidAsTheNearest(milliseconds: Int64) {
        #expect(
            HTTPDate.text(WallTime(millisecondsSince1970: milliseconds))
                == (milliseconds < 0 ? "Thu, 01 Jan 1970 00:00:00 GMT" : "Fri, 31 Dec 9999 23:59:59 GMT"))
    }

    @Test func text_followsTheCalendar_forwardAndBack() {
        let now = Mutex(WallTime(millisecondsSince1970: 784_111_777_000))
        let date = HTTPDate(now: { now.withLock { $0 } })
        #expect(date.text == "Sun, 06 Nov 1994 08:49:37 GMT")
        now.withLock { $0 = WallTime(millisecondsSince1970: 784_111_777_999) }
        #expect(date.text == "Sun, 06 Nov 1994 08:49:37 GMT")
        now.withLock { $0 = WallTime(millisecondsSince1970: 784_111_778_000) }
        #expect(date.text == "Sun, 06 Nov 1994 08:49:38 GMT")
        now.withLock { $0 = WallTime(millisecondsSince1970: 784_111_776_500) }
        #expect(date.text == "Sun, 06 Nov 1994 08:49:36 GMT")
    }
}
