import Testing

@testable import LinuxIO
@testable import MeterCodec

struct BaudRateTests {
    /// A rate that a description may have is one to which the line can be set, and the other way round.
    @Test func ratesOfDescribedBoards_areThoseOfTheLine() {
        #expect(LineDescription.baudRates == BaudRate.all.map(\.bitsPerSecond))
    }
}
