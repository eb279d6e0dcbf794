import Domain
import MeterCodec
import Testing

struct WITRNDriverTests {
    /// Anything written to one may be taken for an order to erase its firmware.
    @Test(arguments: WITRNFamily().models)
    func nothing_isEverSent(model: ModelName) throws {
        var driver = try #require(WITRNFamily().driver(for: model, over: .hid))
        #expect(driver.opening().isEmpty)
        for _ in 0..<10 {
            #expect(driver.poll().isEmpty)
            driver.receive(WITRNSample.k2) { _ in }
        }
        #expect(driver.closing().isEmpty)
        #expect(driver.profile.rhythm == .push(expected: .milliseconds(10), keepAlive: nil))
        #expect(driver.profile.commands == [MeterProfile.CommandRule(.resetEnergy)])
        for kind in MeterCommand.Kind.allCases {
            #expect(throws: CodecError.unsupportedCommand(kind, model: model)) {
                try driver.encode(MeterCommand(kind))
            }
        }
    }

    @Test func noOtherLink_isKnown() {
        for transport in LinkAddress.Transport.allCases where transport != .hid {
            #expect(WITRNFamily().driver(for: .witrnK2, over: transport) == nil)
        }
    }

    /// The second link does not take the clock of the first.
    @Test func newLink_knowsNothingOfTheLast() {
        var driver = WITRNDriver(model: .witrnK2)
        func hear(_ bytes: [UInt8]) -> [PDReport?] {
            var heard: [PDReport?] = []
            driver.receive(bytes) { if case .frame(let frame) = $0 { heard.append(frame.content.powerDelivery) } }
            return heard
        }
        _ = driver.opening()
        let first = hear(WITRNSample.k2 + WITRNSample.heard(WITRNSample.offer))
        #expect(first.last??.events.count == 1)

        _ = driver.opening()
        #expect(hear(WITRNSample.heard(WITRNSample.offer)) == [nil])
    }

    @Test func halfAReport_isDiscarded_andCounted() {
        var driver = WITRNDriver(model: .witrnU3)
        driver.receive(Array(WITRNSample.k2.prefix(20))) { _ in }
        #expect(driver.discardPartial() == 20)
        var frames = 0
        driver.receive(WITRNSample.k2) { if case .frame = $0 { frames += 1 } }
        #expect(frames == 1)
    }
}
