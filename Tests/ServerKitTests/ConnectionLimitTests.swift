import ServerKit
import Testing

struct ConnectionLimitTests {
    @Test func oneAddress_takesNoPlaceFromAnother() {
        let limit = ConnectionLimit(all: 3, perAddress: 2)

        #expect(limit.open(from: "a"))
        #expect(limit.open(from: "a"))
        #expect(!limit.open(from: "a"))
        #expect(limit.open(from: "b"))
        #expect(!limit.open(from: "c"))
        #expect(limit.count == 3)
    }

    @Test func placeOfAClosedConnection_isFree() {
        let limit = ConnectionLimit(all: 1, perAddress: 1)

        #expect(limit.open(from: "a"))
        limit.close(from: "a")
        #expect(limit.count == 0)
        #expect(limit.open(from: "b"))
    }
}
