import Domain
import Foundation
import Gateway
import MeterStore
import MeterTestKit
import StoreTestKit
import Synchronization

extension TemporaryFolder {
    /// Path of the test's store.
    var store: String { path + "/meters.db" }

    var file: StoreFile { StoreFile(store) }

    /// Copies the store with its log, as they are at this moment, under a new name.
    func copyStore(as name: String) throws -> String {
        let copy = path + "/" + name
        for suffix in ["", "-wal"] where FileManager.default.fileExists(atPath: store + suffix) {
            try FileManager.default.copyItem(atPath: store + suffix, toPath: copy + suffix)
        }
        return copy
    }
}

extension MeterID {
    static let one = MeterID.mac(MACAddress(bits: 0xAABB_CCDD_EEFF))
    static let two = MeterID.usb(vendor: 0x2E3C, product: 0x0049, serial: "0042")
}

extension SampleChunk {
    /// The chunk of a minute at 2 Hz, number `minute` of its meter, about as long as a UM25C's.
    static func minute(_ minute: Int, of meter: MeterID = .one) -> SampleChunk {
        // Built once: many tests fill a store with the same day.
        var chunk = minutes.withLock { minutes in
            let chunk = minutes[minute] ?? build(minute)
            minutes[minute] = chunk
            return chunk
        }
        chunk.meter = meter
        return chunk
    }

    private static let minutes = Mutex<[Int: SampleChunk]>([:])

    private static func build(_ minute: Int) -> SampleChunk {
        let meter = MeterID.one
        let start = 1_795_000_000_000 + Int64(minute) * 60_000
        var builder = SampleChunkBuilder(meter: meter)
        for number in 0..<120 {
            var reading = Reading()
            let step = minute * 120 + number
            for (offset, quantity) in [Quantity.voltage, .current, .power, .resistance, .dataPlus].enumerated() {
                reading[quantity] = Double((step + 1) * (7 + offset) % 101 + 5000) / 1000
            }
            reading[.temperature] = 25
            builder.append(WallTime(millisecondsSince1970: start + Int64(number) * 500), reading)
        }
        let nothing = WallTime(millisecondsSince1970: 0)
        return builder.finish() ?? SampleChunk(meter: meter, first: nothing, last: nothing, count: 0, bytes: [])
    }
}

extension MeterStore {
    /// Everything the store has of a meter, oldest first.
    func allSamples(of meter: MeterID = .one) async throws(StoreError) -> [StoredSample] {
        let always = WallTime(millisecondsSince1970: .min)..<WallTime(millisecondsSince1970: .max)
        return try await samples(of: meter, in: always, limit: .max)
    }
}

extension Machine {
    static let here = Machine(digest: "digest of this machine", boot: "first boot")
}
