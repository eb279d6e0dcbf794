import BluetoothCore
import Domain
import Gateway
import Testing

@testable import BlueZTransport

struct DemandSourceTests {
    private let adapter = MACAddress(bits: 1)

    @Test func missingMeters_areListenedForOverLE_andOverClassicWhereOneHasIt() {
        var source = DemandSource()
        #expect(source.current(at: .origin)(adapter) == SearchDemand())
        source.follow { RadioDemand(missing: [.ble: 2]) }
        #expect(source.current(at: .origin)(adapter) == SearchDemand(missing: .lowEnergy, missingCount: 2))
        source.follow { RadioDemand(missing: [.ble: 2, .spp: 3]) }
        #expect(source.current(at: .origin)(adapter) == SearchDemand(missing: .interleaved, missingCount: 3))
    }

    @Test func fastStream_concernsItsOwnAdapter() {
        var source = DemandSource()
        let adapter = adapter
        source.follow { RadioDemand(streaming: [adapter]) }
        let demand = source.current(at: .origin)
        #expect(demand(adapter).hasFastStream)
        #expect(!demand(MACAddress(bits: 2)).hasFastStream)
        #expect(!demand(nil).hasFastStream)
    }

    @Test func personWhoLooks_looksUntilThen() {
        var source = DemandSource()
        let end = MonotonicTime(sinceOrigin: .seconds(5))
        source.sought(until: end)
        #expect(source.current(at: .origin)(nil).byHandUntil == end)
        #expect(source.current(at: end)(nil).byHandUntil == nil)
    }
}
