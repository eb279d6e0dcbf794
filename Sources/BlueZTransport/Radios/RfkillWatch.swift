import BluetoothCore
import Glibc
import LinuxIO

/// Follows the switches that block radios (Linux `include/uapi/linux/rfkill.h`). Use only on the event loop.
final class RfkillWatch: @unchecked Sendable {
    private let files: AdapterFiles
    private let loop: IOLoop
    private let report: @Sendable (_ adapter: String, RadioBlock) -> Void
    private var file: FileDescriptor?
    private var switches: [UInt32: (adapter: String, block: RadioBlock)] = [:]

    /// Size of an event: number (four bytes), type, operation, soft, hard. Newer kernels may append to it on request.
    private static let eventLength = 8
    private static let bluetoothType: UInt8 = 2

    init(files: AdapterFiles, loop: IOLoop, report: @escaping @Sendable (String, RadioBlock) -> Void) {
        self.files = files
        self.loop = loop
        self.report = report
    }

    /// Opens rfkill. If that fails, only the adapters' own answers report a block.
    func begin() {
        guard file == nil, let new = try? FileDescriptor(opening: files.rfkill, O_RDONLY | O_NONBLOCK) else { return }
        do {
            try loop.register(new, .readable) { [weak self] _ in self?.read() }
            file = new
        } catch {
            new.close()
        }
    }

    func close() {
        guard let file else { return }
        loop.unregister(file)
        file.close()
        self.file = nil
        switches = [:]
    }

    func block(of adapter: String) -> RadioBlock {
        switches.values.first { $0.adapter == adapter }?.block ?? RadioBlock()
    }

    private func read() {
        var event = [UInt8](repeating: 0, count: Self.eventLength)
        for _ in 0..<64 {
            guard let file else { return }
            do {
                guard let count = try event.withUnsafeMutableBytes({ try file.read(into: $0) }) else { return }
                guard count > 0 else { return close() }
                if count >= Self.eventLength { handle(event) }
            } catch {
                return close()
            }
        }
    }

    private func handle(_ event: [UInt8]) {
        guard event[4] == Self.bluetoothType else { return }
        let number = event[..<4].reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        let isRemoved = event[5] == 1
        if isRemoved {
            switches[number] = nil
            return
        }
        let block = RadioBlock(isSoft: event[6] != 0, isHard: event[7] != 0)
        // Read the adapter's name only once: its file may disappear before the last event of a removed adapter.
        guard let adapter = switches[number]?.adapter ?? files.adapterName(ofSwitch: number) else { return }
        switches[number] = (adapter, block)
        report(adapter, block)
    }
}
