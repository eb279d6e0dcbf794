import BlueZTransport
import Domain
import Gateway
import Glibc
import LinuxIO
import Testing

struct RadioFailureTests {
    @Test(arguments: [
        (EBUSY, LinkAddress.Transport.ble, ChannelFailure.Code.busy, "bluetoothctl disconnect 00:15:A5:00:05:92"),
        (EBUSY, .spp, .busy, "bluetoothd"),
        (EHOSTDOWN, .ble, .unreachable, "out of range"),
        (ETIMEDOUT, .spp, .unreachable, "switched off"),
        (EINPROGRESS, .ble, .unreachable, "a phone"),
        (ENOSYS, .ble, .unreachable, "Raspberry Pi"),
        (ENODEV, .ble, .adapter, "AA:BB:CC:00:00:01"),
        (ENETDOWN, .ble, .adapter, "off, blocked or gone"),
        (EHOSTUNREACH, .spp, .adapter, "meterctl doctor"),
        (EMLINK, .ble, .adapter, "has no free link"),
        (EAFNOSUPPORT, .ble, .adapter, "modprobe bluetooth"),
        (EPROTONOSUPPORT, .spp, .adapter, "modprobe rfcomm"),
        (EPERM, .ble, .permission, "sandbox"),
        (EACCES, .ble, .permission, "sandbox"),
        (EACCES, .spp, .unsuitable, "1234"),
        (EBADE, .ble, .unsuitable, "bluetoothctl remove"),
        (ECONNREFUSED, .spp, .unsuitable, "no serial port"),
        (ECONNREFUSED, .ble, .adapter, "LE switched off"),
        (EIO, .ble, .system, "Input/output error"),
    ])
    func reason_becomesWordsThatHelp(
        code: Int32, transport: LinkAddress.Transport, expected: ChannelFailure.Code, words: String
    ) {
        let failure = ChannelFailure.connecting(.meter, over: transport, Errno(code))
        #expect(failure.code == expected)
        #expect(failure.message.contains(words), "\(failure.message)")
        #expect(failure.message.hasSuffix("."))
    }

    @Test func lostLink_isNamed() {
        #expect(ChannelFailure.losing(.meter, nil).message.hasPrefix("The link to 00:15:A5:00:05:92 is gone: "))
        #expect(ChannelFailure.losing(.meter, Errno(ECONNRESET)).message.contains("Connection reset by peer"))
    }

    /// On a machine without Bluetooth the kernel has no such sockets; on one with it there is no such adapter. Both are
    /// told as the adapter's trouble, by each of the three calls.
    @Test func kernelSockets_failAsTheAdaptersTrouble_whereThereIsNoSuchAdapter() throws {
        let kernel = KernelRadioSockets()
        let calls: [(LinkAddress.Transport, () throws(Errno) -> Void)] = [
            (.ble, { () throws(Errno) in _ = try kernel.connectATT(.meter) }),
            (.spp, { () throws(Errno) in _ = try kernel.connectRFCOMM(.meter, channel: 1) }),
        ]
        for (transport, call) in calls {
            let reason = #expect(throws: Errno.self) { try call() }
            #expect(ChannelFailure.connecting(.meter, over: transport, try #require(reason)).code == .adapter)
        }
        let pair = try radioPair()
        let reason = #expect(throws: Errno.self) {
            try kernel.findSerialPort(.meter, limit: .seconds(1), cancel: pair.host)
        }
        #expect(ChannelFailure.connecting(.meter, over: .spp, try #require(reason)).code == .adapter)
    }
}
