import BlueZTransport
import BluetoothCore
import Domain
import GatewayAPI
import Glibc
import LinuxIO
import MeterTestKit
import Testing

/// Who answers a meter that wants a PIN, at the kernel and at a bluetoothd on a bus.
struct PairingTests {
    private let link = RadioLink(
        address: MACAddress(bits: 0x00_15A5_0005_92), isRandom: false, adapter: MACAddress(bits: 0x001A_7DDA_7113))
    private let path = "/org/bluez/hci0/dev_00_15_A5_00_05_92"
    private var device: RadioAddress { RadioAddress(link.address, .classic) }

    private func adapter(_ manner: FakeKernel.Manner = .good) -> FakeKernel.Adapter {
        FakeKernel.Adapter(link.adapter.bits, manner: manner)
    }

    /// A link is about to be made; returns when it may be.
    private func begin(_ bench: RadioBench) async throws {
        let (radios, link) = (bench.radios, link)
        #expect(try await bench.loop.perform { radios.take(link, over: .spp) } == nil)
        await withCheckedContinuation { continuation in
            bench.loop.execute { radios.prepare(link, over: .spp) { continuation.resume() } }
        }
    }

    private func explained(_ bench: RadioBench, _ failure: ChannelFailure) async throws -> ChannelFailure {
        let (radios, link) = (bench.radios, link)
        return try await bench.loop.perform { radios.explain(failure, of: link, over: .spp) }
    }

    private var refused: ChannelFailure { .connecting(link, over: .spp, Errno(EACCES)) }

    // MARK: The kernel

    @Test func pin_isAnswered_whileAnotherCommandIsPending() async throws {
        try await withRadios([0: adapter(.slow)]) { bench in
            await bench.kernel.receives { $0.contains { $0.opcode == 0x0023 } }
            try await begin(bench)
            let device = device
            try await bench.perform { $0.askForPIN(device) }
            await bench.kernel.receives { $0.last?.opcode == 0x0016 }
        }
    }

    @Test func bondableThatIsLost_isSetAgain() async throws {
        try await withRadios([0: adapter()]) { bench in
            await bench.kernel.receives { $0.contains { $0.opcode == 0x0023 } }
            try await bench.perform { $0.change([.powered, .classic, .lowEnergy]) }
            await bench.kernel.receives { $0.contains { $0.opcode == 0x0009 && $0.parameters == [1] } }
            #expect(try await bench.status { $0.pairing?.bondable == true }.pairing?.agent == nil)
        }
    }

    @Test func refusalBeforeUs_isNamed_withWhatToDo() async throws {
        try await withRadios([0: adapter(.served)]) { bench in
            await bench.kernel.receives { $0.contains { $0.opcode == 0x0023 } }
            try await begin(bench)
            let device = device
            try await bench.perform { $0.askForPIN(device) }
            await bench.kernel.receives { $0.last?.opcode == 0x0016 }
            // What comes after the answer has been read, so the answer has.
            try await bench.perform { $0.change([.powered, .classic, .lowEnergy]) }
            await bench.kernel.receives { $0.last?.opcode == 0x0009 }
            let failure = try await explained(bench, refused)
            #expect(failure.message.contains("refused before meterd could answer"))
            #expect(failure.message.contains("`bluetoothctl pair 00:15:A5:00:05:92`"))
        }
    }

    @Test func wrongPIN_isNamed() async throws {
        try await withRadios([0: adapter()]) { bench in
            await bench.kernel.receives { $0.contains { $0.opcode == 0x0023 } }
            try await begin(bench)
            let device = device
            try await bench.perform { $0.askForPIN(device) }
            await bench.kernel.receives { $0.last?.opcode == 0x0016 }
            try await bench.perform { $0.change([.powered, .classic, .lowEnergy]) }
            await bench.kernel.receives { $0.last?.opcode == 0x0009 }
            let failure = try await explained(bench, refused)
            #expect(failure.code == .unsuitable)
            #expect(failure.message.contains("refused the PIN 1234"))
        }
    }

    @Test func otherFailure_isLeftAsItIs() async throws {
        try await withRadios([0: adapter()]) { bench in
            await bench.kernel.receives { $0.contains { $0.opcode == 0x0023 } }
            try await begin(bench)
            let failure = ChannelFailure(.unreachable, "It does not answer.")
            #expect(try await explained(bench, failure) == failure)
        }
    }

    // MARK: bluetoothd

    @Suite(.enabled(if: FakeBluetoothd.missing == nil, "\(FakeBluetoothd.missing ?? "")"), .timeLimit(.minutes(10)))
    struct Agent {
        private let outer = PairingTests()

        private func beside(_ options: String..., body: (RadioBench, FakeBluetoothd) async throws -> Void) async throws
        {
            let daemon = try FakeBluetoothd()
            try daemon.start(options.first ?? "")
            #expect(await daemon.next() == "there")
            try await withRadios([0: outer.adapter()], bus: daemon.address) { bench in
                await bench.kernel.receives { $0.contains { $0.opcode == 0x0023 } }
                _ = try await bench.status { $0.pairing?.agent == .ready }
                try await body(bench, daemon)
            }
        }

        @Test func agent_stands_whileALinkIsMade_andAnswersForThatMeterAlone() async throws {
            try await beside { bench, daemon in
                try await outer.begin(bench)
                #expect(await daemon.next() == "registered NoInputNoOutput")
                #expect(await daemon.next() == "default")
                #expect(await bench.radios.adapters().first?.pairing?.agent == .standing)
                try daemon.ask("RequestPinCode", outer.path)
                #expect(await daemon.next() == "answer 1234")
                try daemon.ask("RequestPinCode", "/org/bluez/hci0/dev_00_00_00_00_00_01")
                #expect(await daemon.next() == "error org.bluez.Error.Rejected")
                try daemon.ask("RequestConfirmation", outer.path)
                #expect(await daemon.next() == "answer")
                try daemon.ask("RequestPasskey", outer.path)
                #expect(await daemon.next() == "error org.bluez.Error.Rejected")
                let (radios, link) = (bench.radios, outer.link)
                try await bench.loop.perform { radios.giveBack(link, over: .spp) }
                #expect(await daemon.next() == "left")
                try daemon.ask("RequestPinCode", outer.path)
                #expect(await daemon.next() == "error org.bluez.Error.Rejected")
            }
        }

        @Test func kernel_isNotAnswered_whileBluetoothdIsToBe_andIsWhereItStaysSilent() async throws {
            try await beside { bench, daemon in
                try await outer.begin(bench)
                let device = outer.device
                let before = try await bench.loop.perform { bench.loop.now }
                try await bench.perform { $0.askForPIN(device) }
                await bench.kernel.receives { $0.last?.opcode == 0x0016 }
                let after = try await bench.loop.perform { bench.loop.now }
                #expect(after - before >= .seconds(1))
            }
        }

        @Test func pairedMeter_needsNoAgent() async throws {
            try await beside("paired") { bench, daemon in
                try await outer.begin(bench)
                #expect(await bench.radios.adapters().first?.pairing?.agent == .ready)
            }
        }

        @Test func refusal_isTold_andTheKernelIsAnswered() async throws {
            try await beside("refusing") { bench, daemon in
                try await outer.begin(bench)
                let status = await bench.radios.adapters().first?.pairing
                #expect(status?.agent == .refused)
                #expect(status?.error?.contains("AccessDenied") == true)
                let device = outer.device
                try await bench.perform { $0.askForPIN(device) }
                await bench.kernel.receives { $0.last?.opcode == 0x0016 }
            }
        }

        @Test func bluetoothd_mayGoAndComeBack() async throws {
            try await beside { bench, daemon in
                daemon.stop()
                _ = try await bench.status { $0.pairing?.agent == .alone }
                try await outer.begin(bench)
                let (radios, link) = (bench.radios, outer.link)
                try await bench.loop.perform { radios.giveBack(link, over: .spp) }
                try daemon.start()
                #expect(await daemon.next() == "there")
                _ = try await bench.status { $0.pairing?.agent == .ready }
                try await outer.begin(bench)
                #expect(await daemon.next() == "registered NoInputNoOutput")
                #expect(await daemon.next() == "default")
            }
        }

        @Test func busThatIsNotThere_isToldSo_andKeepsNoLinkWaiting() async throws {
            try await withRadios([0: outer.adapter()], bus: "unix:path=/nowhere/at/all") { bench in
                await bench.kernel.receives { $0.contains { $0.opcode == 0x0023 } }
                try await outer.begin(bench)
                let status = await bench.radios.adapters().first?.pairing
                #expect(status?.agent == .unavailable)
                #expect(status?.error?.contains("system bus") == true)
            }
        }
    }
}
