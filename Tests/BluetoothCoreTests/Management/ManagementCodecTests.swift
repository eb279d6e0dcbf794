import BluetoothCore
import CoreTestKit
import Domain
import Testing

struct ManagementCodecTests {
    private let meter = RadioAddress(MACAddress(bits: 0x1122_3344_5566), .leRandom)

    // MARK: Commands

    @Test func command_isLittleEndian_withItsLength() {
        #expect(ManagementCommand.startDiscovery(.interleaved).bytes(index: 0x0102) == [0x23, 0, 2, 1, 1, 0, 7])
    }

    @Test func command_aboutNoAdapter_goesToNoIndex() {
        #expect(ManagementCommand.readIndexList.bytes(index: 3) == [3, 0, 0xFF, 0xFF, 0, 0])
        #expect(ManagementCommand.readInfo.bytes(index: 3) == [4, 0, 3, 0, 0, 0])
    }

    @Test func pinCodeReply_isPaddedToSixteen_andCutThere() {
        let bytes = ManagementCommand.pinCodeReply(meter, pin: "1234").bytes(index: 0)
        #expect(bytes[0..<6] == [0x16, 0, 0, 0, 24, 0])
        #expect(bytes[6..<13] == [0x66, 0x55, 0x44, 0x33, 0x22, 0x11, 2])
        #expect(Array(bytes[13...]) == [4, 0x31, 0x32, 0x33, 0x34] + [UInt8](repeating: 0, count: 12))
        let long = ManagementCommand.pinCodeReply(meter, pin: "12345678901234567890").bytes(index: 0)
        #expect(long.count == 6 + 24)
        #expect(long[13] == 16)
    }

    @Test func serviceDiscovery_listsServices_backToFront() {
        let bytes = ManagementCommand.startServiceDiscovery(.lowEnergy, rssi: 127, services: [.init(short: 0xFFE0)])
            .bytes(index: 0)
        #expect(bytes[6..<10] == [6, 127, 1, 0])
        #expect(
            bytes[10...] == [
                0xFB, 0x34, 0x9B, 0x5F, 0x80, 0, 0, 0x80, 0, 0x10, 0, 0, 0xE0, 0xFF, 0, 0,
            ])
    }

    /// Every command as the kernel reads it (Linux, include/net/bluetooth/mgmt.h): its number, its length, its parameters.
    @Test func everyCommand_isWrittenAsTheKernelReadsIt() {
        let device = ManagementSamples.bytes(of: meter)
        let commands: [(ManagementCommand, UInt8, [UInt8])] = [
            (.readInfo, 0x04, []), (.setPowered(true), 0x05, [1]), (.setPowered(false), 0x05, [0]),
            (.setConnectable(true), 0x07, [1]), (.setBondable(false), 0x09, [0]), (.setBondable(true), 0x09, [1]),
            (.setLowEnergy(true), 0x0D, [1]), (.disconnect(meter), 0x14, device),
            (.pinCodeRefusal(meter), 0x17, device),
            (.setIOCapability(.noInputNoOutput), 0x18, [3]), (.pairDevice(meter, .keyboardDisplay), 0x19, device + [4]),
            (.cancelPairDevice(meter), 0x1A, device), (.unpairDevice(meter, disconnect: true), 0x1B, device + [1]),
            (.unpairDevice(meter, disconnect: false), 0x1B, device + [0]),
            (.userConfirmation(meter, isConfirmed: true), 0x1C, device),
            (.userConfirmation(meter, isConfirmed: false), 0x1D, device),
            (.userPasskey(meter, 0x0403_0201), 0x1E, device + [1, 2, 3, 4]), (.userPasskey(meter, nil), 0x1F, device),
            (.startDiscovery(.classic), 0x23, [1]), (.startDiscovery(.lowEnergy), 0x23, [6]),
            (.stopDiscovery(.interleaved), 0x24, [7]), (.confirmName(meter, isKnown: true), 0x25, device + [1]),
            (.confirmName(meter, isKnown: false), 0x25, device + [0]), (.setClassic(true), 0x2A, [1]),
            (.setClassic(false), 0x2A, [0]),
            (.startServiceDiscovery(.interleaved, rssi: -1, services: []), 0x3A, [7, 0xFF, 0, 0]),
        ]
        for (command, opcode, parameters) in commands {
            let header = [opcode, 0, 2, 1, UInt8(parameters.count), 0]
            #expect(command.bytes(index: 0x0102) == header + parameters, "\(command)")
            #expect(command.isPairingAnswer == [0x17, 0x1C, 0x1D, 0x1E, 0x1F].contains(opcode), "\(command)")
        }
        for (command, opcode) in [(ManagementCommand.readVersion, 0x01), (.readIndexList, 0x03)]
            as [(ManagementCommand, UInt8)]
        {
            #expect(command.bytes(index: 3) == [opcode, 0, 0xFF, 0xFF, 0, 0])
        }
        #expect(ManagementCommand.pinCodeReply(meter, pin: "1").opcode == 0x16)
        #expect(ManagementCommand.pinCodeReply(meter, pin: "1").isPairingAnswer)
        let exact = ManagementCommand.pinCodeReply(meter, pin: "1234567890123456").bytes(index: 0)
        #expect(exact.count == 30 && exact[13] == 16 && exact.last == 0x36)
    }

    /// The numbers of include/net/bluetooth/mgmt.h, MGMT_STATUS_…, each with what people read.
    @Test func everyStatus_hasItsNumberAndItsWords() {
        let statuses: [(ManagementStatus, String)] = [
            (.success, "it worked"), (.unknownCommand, "this kernel does not know the command"),
            (.notConnected, "the device is not connected"), (.failed, "the adapter failed"),
            (.connectFailed, "the device did not answer"), (.authenticationFailed, "the device refused the PIN or key"),
            (.notPaired, "the device is not paired"), (.noResources, "the adapter has no room for more"),
            (.timeout, "the adapter or the device took too long"),
            (.alreadyConnected, "the device is connected already"),
            (.busy, "the adapter is busy with the same for another program"),
            (.rejected, "the adapter or the device refused"), (.notSupported, "the adapter cannot do it"),
            (.invalidParameters, "the kernel took the command for malformed"),
            (.disconnected, "the link was lost meanwhile"), (.notPowered, "the adapter is switched off"),
            (.cancelled, "it was cancelled"), (.invalidIndex, "the adapter is not there any more"),
            (.rfkilled, "the adapter is blocked by rfkill"), (.alreadyPaired, "the device is paired already"),
            (.permissionDenied, "this program may not do it"),
        ]
        for (number, (status, words)) in statuses.enumerated() {
            #expect(Int(status.rawValue) == number)
            #expect(status.words == words)
            #expect(status.wordsOfAdapter == (number == 5 ? "the adapter did not answer the kernel" : words))
        }
        #expect(ManagementStatus(rawValue: 0x15).words == "the kernel answered with status 0x15")
    }

    /// `hci_check_conn_params` of Linux's hci_core.h, at each of its limits.
    @Test func connectionParameters_areValid_withinTheKernelsLimits() {
        for (least, greatest, latency, timeout, isValid) in [
            (6, 6, 0, 10, true), (5, 6, 0, 10, false), (3200, 3200, 0, 3200, true), (6, 3201, 0, 3200, false),
            (7, 6, 0, 10, false), (6, 79, 0, 10, true), (6, 80, 0, 10, false), (6, 6, 0, 9, false),
            (6, 6, 0, 3201, false), (6, 6, 499, 3200, true), (6, 6, 500, 3200, false), (24, 40, 79, 800, true),
            (24, 40, 80, 800, false), (24, 40, 0, 800, true),
        ] as [(UInt16, UInt16, UInt16, UInt16, Bool)] {
            let parameters = ConnectionParameters(
                intervalMin: least, intervalMax: greatest, latency: latency, supervisionTimeout: timeout)
            #expect(parameters.isValid == isValid, "\(parameters)")
        }
        #expect(
            ConnectionParameters.meter
                == ConnectionParameters(
                    intervalMin: 0x18, intervalMax: 0x28, latency: 0, supervisionTimeout: 800))
        #expect(ConnectionParameters.meter.isValid)
    }

    @Test func repliesThatRefuse_haveOpcodesOfTheirOwn() {
        #expect(ManagementCommand.userConfirmation(meter, isConfirmed: true).opcode == 0x001C)
        #expect(ManagementCommand.userConfirmation(meter, isConfirmed: false).opcode == 0x001D)
        #expect(ManagementCommand.userPasskey(meter, 1).opcode == 0x001E)
        #expect(ManagementCommand.userPasskey(meter, nil).opcode == 0x001F)
    }

    // MARK: Events

    @Test func deviceFound_isRead_withItsData() throws {
        let data: [UInt8] = [5, 0x09] + Array("UM25".utf8)
        let (index, event) = try ManagementEvent.decode(ManagementSamples.found(meter, rssi: -60, data, index: 2))
        #expect(index == 2)
        #expect(event == .deviceFound(.init(address: meter, rssi: -60, flags: [], data: data)))
    }

    /// 0 is what the kernel fills in with a name that it looked up.
    @Test(arguments: [(127, nil), (0, nil), (-1, -1), (1, 1), (126, 126), (-128, -128)] as [(Int8, Int?)])
    func rssi_isUnknown_whereTheAdapterDoesNotSay(sent: Int8, rssi: Int?) throws {
        let (_, event) = try ManagementEvent.decode(ManagementSamples.found(meter, rssi: sent, []))
        guard case .deviceFound(let found) = event else {
            Issue.record("\(event)")
            return
        }
        #expect(found.rssi == rssi)
    }

    @Test func deviceFound_thatClaimsMoreDataThanThereIs_isAFault() {
        var bytes = ManagementSamples.found(meter, rssi: -60, [2, 1, 6])
        bytes[6 + 12] = 4
        #expect(throws: ManagementFault.length(claimed: 4, actual: 3)) { try ManagementEvent.decode(bytes) }
    }

    @Test func header_thatLies_isAFault() {
        #expect(throws: ManagementFault.noHeader(count: 5)) { try ManagementEvent.decode([1, 0, 0, 0, 0]) }
        #expect(throws: ManagementFault.length(claimed: 9, actual: 1)) {
            try ManagementEvent.decode([1, 0, 0, 0, 9, 0, 1])
        }
        #expect(throws: ManagementFault.length(claimed: 0, actual: 1)) {
            try ManagementEvent.decode([4, 0, 0, 0, 0, 0, 1])
        }
    }

    @Test func addressOfNoKnownKind_isAFault() {
        var bytes = ManagementSamples.found(meter, rssi: -60, [])
        bytes[6 + 6] = 3
        #expect(throws: ManagementFault.self) { try ManagementEvent.decode(bytes) }
    }

    @Test func unknownEvent_passes() throws {
        let (_, event) = try ManagementEvent.decode([0x77, 0, 1, 0, 2, 0, 9, 9])
        #expect(event == .other(code: 0x77))
    }

    @Test func everyEvent_isRead() throws {
        let device = ManagementSamples.bytes(of: meter)
        let expected: [(UInt16, [UInt8], ManagementEvent)] = [
            (1, [4, 0, 0, 7], .commandComplete(opcode: 4, .success, parameters: [7])),
            (2, [0x23, 0, 0x0A], .commandStatus(opcode: 0x23, .busy)),
            (3, [5], .controllerError(5)), (4, [], .indexAdded), (5, [], .indexRemoved),
            (6, [0x81, 2, 0, 0], .newSettings([.powered, .classic, .lowEnergy])),
            (0x0B, device + [0, 0, 0, 0, 0, 0], .deviceConnected(meter)),
            (0x0C, device + [3], .deviceDisconnected(meter, .init(rawValue: 3))),
            (0x0D, device + [4], .connectFailed(meter, .connectFailed)),
            (0x0E, device + [0], .pinCodeRequest(meter, isSecure: false)),
            (0x0F, device + [1, 1, 2, 0, 0], .userConfirmationRequest(meter, isHint: true, value: 0x201)),
            (0x10, device, .userPasskeyRequest(meter)),
            (0x11, device + [5], .authenticationFailed(meter, .authenticationFailed)),
            (0x13, [7, 1], .discovering(.interleaved, isOn: true)),
            (0x2D, [2], .controllerSuspended(2)), (0x2E, device + [0], .controllerResumed),
            (0x09, [1] + device, .newLinkKey(meter)), (0x15, device, .deviceUnblocked(meter)),
            (0x0E, device + [1], .pinCodeRequest(meter, isSecure: true)),
            (0x0F, device + [0, 1, 0, 0, 0], .userConfirmationRequest(meter, isHint: false, value: 1)),
            (0x13, [1, 0], .discovering(.classic, isOn: false)),
        ]
        // What may be left out at the end of a packet, because nobody reads it.
        let spare: [UInt16: Int] = [1: 1, 0x0B: 6, 0x2E: 8]
        for (code, parameters, event) in expected {
            let bytes = ManagementSamples.packet(code, index: 1, parameters)
            #expect(try ManagementEvent.decode(bytes).event == event)
            let needed = parameters.count - (spare[code] ?? 0)
            guard needed > 0 else { continue }
            let cut = ManagementSamples.packet(code, index: 1, Array(parameters.prefix(needed - 1)))
            #expect(throws: ManagementFault.truncated(code: code, count: needed - 1)) {
                try ManagementEvent.decode(cut)
            }
            #expect(throws: Never.self) {
                try ManagementEvent.decode(ManagementSamples.packet(code, index: 1, Array(parameters.prefix(needed))))
            }
        }
    }

    /// Whatever is cut off or changed, the outcome is an event or a fault that has words.
    @Test(arguments: 0..<200 as Range<UInt64>)
    func damagedPackets_neverTrap(seed: UInt64) {
        var rng = SeededRNG(seed: seed)
        var bytes = ManagementSamples.found(meter, rssi: -60, [2, 1, 6, 3, 3, 0xE0, 0xFF])
        bytes[0] = UInt8(rng.below(0x32))
        for _ in 0..<rng.below(4) { bytes[rng.below(bytes.count)] = UInt8(rng.below(256)) }
        bytes.removeLast(rng.below(bytes.count + 1))
        // Half of them with a length that is right, so that what lies behind it is reached.
        if bytes.count >= 6, rng.below(2) == 0 { bytes[4...5] = [UInt8(bytes.count - 6), 0] }
        do throws(ManagementFault) {
            _ = try ManagementEvent.decode(bytes)
        } catch {
            #expect(!error.description.isEmpty)
        }
    }

    // MARK: Answers

    @Test func controllerInfo_isRead() throws {
        let info = ControllerInfo(
            address: MACAddress(bits: 0xA0B0_C0D0_E0F0), version: 9, manufacturer: 2,
            supported: [.powered, .lowEnergy],
            current: [.lowEnergy])
        #expect(try ControllerInfo(ManagementSamples.bytes(of: info)) == info)
        #expect(throws: ManagementFault.self) { try ControllerInfo([1, 2, 3]) }
    }

    @Test func indexList_thatClaimsMoreThanThereIs_isAFault() throws {
        #expect(try ControllerIndexList([2, 0, 0, 0, 3, 0]).indexes == [0, 3])
        #expect(throws: ManagementFault.self) { try ControllerIndexList([0xFF, 0xFF, 0, 0]) }
    }

    @Test func everyStatus_hasWords_alsoTheUnknown() {
        for number in UInt8.min...UInt8.max { #expect(!ManagementStatus(rawValue: number).words.isEmpty) }
        #expect(ManagementStatus(rawValue: 0x99).words.contains("0x99"))
    }

    /// BlueZ doc/mgmt-api.txt, "Load Connection Parameters Command".
    @Test func connectionParameters_areOneEntry() {
        let device = RadioAddress(MACAddress(bits: 0x0011_2233_4455), .leRandom)
        let command = ManagementCommand.loadConnectionParameters(
            device, ConnectionParameters(intervalMin: 6, intervalMax: 0x0C80, latency: 499, supervisionTimeout: 800))
        #expect(
            command.bytes(index: 2) == [
                0x35, 0, 2, 0, 17, 0, 1, 0, 0x55, 0x44, 0x33, 0x22, 0x11, 0, 2, 6, 0, 0x80, 0x0C, 0xF3, 1, 0x20, 3,
            ])
    }

    /// Those of `hci_check_conn_params`: the kernel would pass over what is beyond them.
    @Test(
        arguments: [
            (0x18, 0x28, 0, 800, true), (5, 0x28, 0, 800, false), (0x28, 0x18, 0, 800, false),
            (6, 3201, 0, 3200, false),
            (6, 6, 0, 9, false), (6, 6, 0, 3201, false), (6, 80, 0, 10, false), (6, 79, 0, 10, true),
            (6, 6, 499, 3200, true),
            (6, 6, 500, 3200, false), (6, 40, 80, 800, false), (6, 40, 79, 800, true),
        ] as [(UInt16, UInt16, UInt16, UInt16, Bool)])
    func connectionParameters_haveLimits(
        intervalMin: UInt16, intervalMax: UInt16, latency: UInt16, timeout: UInt16, isValid: Bool
    ) {
        let parameters = ConnectionParameters(
            intervalMin: intervalMin, intervalMax: intervalMax, latency: latency, supervisionTimeout: timeout)
        #expect(parameters.isValid == isValid)
        #expect(ConnectionParameters.meter.isValid)
    }
}
