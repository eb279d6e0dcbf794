import Logging
import MeterTestKit
import ServerKit
import Testing

struct LibraryLogFilterTests {
    @Test func farewells_andTalk_areLeftOut_andTheRestStays() {
        let book = LogBook()
        let quiet = LibraryLogFilter.quiet(book.logger)

        quiet.info("Server started and listening on 127.0.0.1:1")
        quiet.error("Waiting on child channel: I/O on closed channel")
        quiet.error("Server shutdown error: Already closed")
        quiet.error("Server shutdown error: no memory")

        #expect(book.entries.map(\.message) == ["Server shutdown error: no memory"])
    }
}
