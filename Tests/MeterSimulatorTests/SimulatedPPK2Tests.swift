import Domain
import MeterCodec
import MeterSimulator
import Testing

struct SimulatedPPK2Tests {
    private func started(_ time: Duration = .zero) -> SimulatedPPK2 {
        var meter = SimulatedPPK2(load: ElectricalLoad(startCurrent: 0.02, halfLife: 0))
        for request in PPK2Request.ammeterConversation { _ = meter.receive(request.bytes, at: time) }
        return meter
    }

    /// A device that sleeps and wakes: of both, the currents come back through the calibration and the spike filter.
    @Test func samples_areThoseOfTheLoad() throws {
        var meter = SimulatedPPK2(load: ElectricalLoad(startCurrent: 0.02, halfLife: 1e9))
        var decoder = PPK2Decoder(rate: 10)
        for request in PPK2Request.ammeterConversation {
            meter.receive(request.bytes, at: .zero).forEach { decoder.append($0) }
        }
        for step in 1...100 { meter.due(at: .milliseconds(5 * step)).forEach { decoder.append($0) } }
        var found: [(mean: Double, spread: ReadingSpread)] = []
        while case .frame(let frame)? = decoder.next() {
            frame.forEachReading { reading in
                if let spread = frame.spread, let mean = reading[.current] { found.append((mean, spread)) }
            }
        }
        #expect(found.map(\.spread.count) == [10_000, 10_000, 10_000, 10_000, 10_000])
        for (mean, spread) in found {
            #expect(abs(mean - (0.05 * 0.02 + 0.95 * 0.000_02)) < 0.000_05)
            #expect(abs(try #require(spread.least[.current]) - 0.000_02) < 0.000_002)
            #expect(abs(try #require(spread.greatest[.current]) - 0.02) < 0.001)
        }
    }

    @Test func withoutItsRequests_itSendsNothing_orNoCurrent() {
        var meter = SimulatedPPK2()
        #expect(meter.nextDue == nil && meter.due(at: .seconds(9)).isEmpty)
        #expect(meter.receive([0x55, 0x07], at: .zero).isEmpty)
        #expect(meter.receive([0x19], at: .zero) == [SimulatedPPK2.metadata])
        var sampling = started()
        #expect(sampling.due(at: .milliseconds(50)).map(\.count) == [Int](repeating: 2000, count: 10))
        _ = sampling.receive([0x07], at: .milliseconds(50))
        #expect(sampling.nextDue == nil && sampling.due(at: .seconds(1)).isEmpty)
        sampling.powerCycle()
        #expect(sampling.due(at: .seconds(1)).isEmpty)
    }

    @Test func source_suppliesOnlyWhileItIsOn() {
        var meter = SimulatedPPK2()
        let steps: [(request: PPK2Request, supplied: Int?)] = [
            (.connectDevice, 3741), (.disconnectDevice, nil), (.source, nil), (.regulator(3300), nil),
            (.connectDevice, 3300), (.regulator(1800), 1800), (.ammeter, nil), (.source, 1800),
        ]
        for (request, supplied) in steps {
            _ = meter.receive(request.bytes, at: .zero)
            #expect(meter.supplied_mV == supplied, "\(request)")
        }
    }

    /// A reader that is late gets the newest samples, and their counter goes on.
    @Test func lateReader_losesSamples() {
        var meter = started()
        #expect(meter.due(at: .seconds(1)).count == 21)
        #expect(meter.nextDue == .milliseconds(1005))
    }
}
