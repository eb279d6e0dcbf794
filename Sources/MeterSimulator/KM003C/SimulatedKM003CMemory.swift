import Domain
import MeterCodec

/// Memory of a simulated KM003C: name, processor id and logs (Docs/Protocols/KM003C.md#logs).
struct SimulatedKM003CMemory: Sendable {
    static let hardwareID: [UInt8] = Array("SIMULATED".utf8) + [0x00, 0x10, 0x20]

    private let model: ModelName
    private let load: ElectricalLoad
    private let logs: [Log]

    private struct Log: Sendable {
        var name: String
        var sampleCount: Int
        var interval_ms: Int
        /// Offset of the first sample from the start of all logs, in samples.
        var start: Int
    }

    init(model: ModelName, load: ElectricalLoad) {
        self.model = model
        self.load = load
        logs = [
            Log(name: "A01.d", sampleCount: 12, interval_ms: 1000, start: 0),
            Log(name: "A02.d", sampleCount: 521, interval_ms: 10_000, start: 12),
        ]
    }

    enum Content {
        case bytes([UInt8])
        /// A read that would crash a real meter.
        case crash
    }

    func read(address: UInt32, size: UInt32) -> Content {
        let length = Int(size)
        guard (1...Int(KM003CMemoryRange.longest)).contains(length) else { return .crash }
        let logEnd = KM003CMemory.logs + KM003CLogRange.end
        switch address {
        case KM003CMemory.hardware.address:
            return .bytes(cut(block(version: hardware, date: "2022.11.7"), to: length))
        case KM003CMemory.firmware.address:
            return .bytes(cut(block(version: firmware, date: "2025.1.7"), to: length))
        case KM003CMemory.serial.address:
            return .bytes(cut(serialBlock, to: length))
        case KM003CMemory.hardwareID.address:
            return .bytes(cut(Self.hardwareID, to: length))
        case KM003CMemory.logs..<logEnd:
            let all = logs.flatMap { samples($0).flatMap { $0 } }
            return .bytes(cut(Array(all.dropFirst(Int(address - KM003CMemory.logs))), to: length))
        default:
            return .crash
        }
    }

    var hardware: String { "2.1" }
    var firmware: String { "1.9.5" }
    private var serialBlock: [UInt8] { Array("\(serial) 00112233445566778899AABBCCDDEEFF 1700000000 ".utf8) + [0] }

    /// First bytes of the serial block. As a hardware id, they open the logs of a KM002C and the calibration of a
    /// KM003C.
    var serialStart: [UInt8] { Array(serialBlock.prefix(KM003CProof.hardwareIDLength)) }

    var serial: String { String(String(1_007_965 + load.seed % 1000).suffix(6)) }

    /// Cuts the bytes to `length`, or pads them with FF, as in erased memory.
    private func cut(_ bytes: [UInt8], to length: Int) -> [UInt8] {
        Array((bytes + [UInt8](repeating: 0xFF, count: max(0, length - bytes.count))).prefix(length))
    }

    /// Returns a memory block: sixteen bytes of unknown meaning, then texts of twelve bytes each.
    private func block(version: String, date: String) -> [UInt8] {
        let texts = [model.displayName, version, date].flatMap { text in
            Array(text.utf8) + [UInt8](repeating: 0, count: 12 - text.utf8.count)
        }
        return [UInt8](repeating: 0xFF, count: 16) + texts + [UInt8](repeating: 0, count: 12)
    }

    private func samples(_ log: Log) -> [[UInt8]] {
        var counter = EnergyCounter()
        let seconds = Double(log.interval_ms) / 1000
        return (0..<log.sampleCount).map { step in
            let state = load.state(step: step, length: seconds)
            counter.add(state, seconds: seconds)
            var bytes: [UInt8] = []
            for value in [state.voltage * 1e6, state.current * 1e6, counter.charge_mAh * 1e3, counter.energy_mWh * 1e3]
            {
                bytes.appendLE(Int32(clamping: Int(value.rounded())))
            }
            return bytes
        }
    }

    /// Catalogue of the logs: one entry per log, with the totals of the log's last sample.
    var catalogue: [UInt8] {
        logs.flatMap { log in
            var bytes = Array(log.name.utf8) + [UInt8](repeating: 0, count: 16 - log.name.utf8.count)
            bytes.appendLE(UInt16(0x0A45))
            bytes.appendLE(UInt16(clamping: log.sampleCount))
            bytes.appendLE(UInt16(clamping: log.interval_ms))
            bytes.appendLE(UInt16(0))
            bytes.appendLE(UInt32(clamping: (log.sampleCount - 1) * log.interval_ms / 1000))
            bytes += samples(log).last?.dropFirst(8) ?? []
            bytes.appendLE(UInt32(clamping: log.start * KM003CLogSample.length))
            return bytes + [UInt8](repeating: 0, count: 8)
        }
    }
}
