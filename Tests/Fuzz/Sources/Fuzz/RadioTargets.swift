import BluetoothCore
import Domain

extension FuzzTarget {
    /// What claims to come from the kernel: any bytes end in an event or a fault with words.
    static let management = FuzzTarget(
        name: "management", run: runManagement,
        seeds: {
            let device: [UInt8] = [6, 5, 4, 3, 2, 1, 1]
            let found = device + [0xC4, 0, 0, 0, 0, 7, 0, 6, 9] + Array("UM25C".utf8)
            let events: [(UInt8, [UInt8])] = [
                (1, [4, 0, 0, 7]), (2, [0x23, 0, 0x0A]), (3, [5]), (6, [0x81, 2, 0, 0]), (0x0B, device),
                (0x0E, device + [0]), (0x0F, device + [1, 1, 2, 0, 0]), (0x12, found), (0x13, [7, 1]),
            ]
            return events.map { [$0, 0, 0, 0, UInt8($1.count), 0] + $1 } + [[1, 0], device + [9, 2, 0]]
        })

    private static func runManagement(_ input: [UInt8]) {
        do throws(ManagementFault) {
            let (_, event) = try ManagementEvent.decode(input)
            if case .deviceFound(let found) = event {
                promise(found.data.count <= input.count, "data are part of the packet")
                promise(found.rssi.map { (-128...126).contains($0) } ?? true, "loudness is a byte")
            }
            if case .commandComplete(_, let status, let parameters) = event {
                promise(!status.words.isEmpty, "a status has words")
                _ = try? ControllerInfo(parameters)
                // What an index list claims is bounded by what there is.
                if let list = try? ControllerIndexList(parameters) {
                    promise(2 * list.indexes.count <= parameters.count, "indexes are part of the answer")
                }
            }
        } catch {
            promise(!error.description.isEmpty, "a fault has words")
        }
    }

    /// What a device says of itself: any bytes are read or cut off, and what comes of them is bounded.
    static let advertising = FuzzTarget(
        name: "advertising", run: runAdvertising,
        seeds: {
            [
                [2, 1, 6, 3, 3, 0xE0, 0xFF, 6, 9] + Array("UM25C".utf8),
                [4, 8] + Array("UM2".utf8) + [2, 0x0A, 0xF4, 4, 0x0D, 4, 5, 0x1F, 9, 9],
                [17, 7, 0xFB, 0x34, 0x9B, 0x5F, 0x80, 0, 0, 0x80, 0, 0x10, 0, 0, 0xE5, 0xFF, 0, 0, 5, 5, 1, 2, 3, 4],
            ]
        })

    private static func runAdvertising(_ input: [UInt8]) {
        let data = AdvertisingData(input)
        promise(data.services.count <= AdvertisingData.servicesMax, "services are bounded")
        promise(Set(data.services).count == data.services.count, "each service is named once")
        if let name = data.name {
            promise(!name.text.isEmpty, "a name has a character")
            promise(name.text.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F }, "a name prints")
            promise(name.text.utf8.count <= 3 * DeviceName.lengthMax, "a name is bounded")
        }
        for kind in RadioAddress.Kind.allCases {
            _ = RadioIdentification(name: data.name?.text, services: data.services, kind: kind)
        }
        hear(input)
    }

    /// The same as one adapter would hear it, from a few devices.
    private static func hear(_ input: [UInt8]) {
        var sightings = RadioSightings()
        for number in 0..<4 as Range<UInt8> {
            let data = Array(input.dropFirst(Int(number)).prefix(255))
            let packet =
                [0x12, 0, 0, 0, UInt8(truncatingIfNeeded: 14 + data.count), UInt8((14 + data.count) >> 8)]
                + [number & 1, 2, 3, 4, 5, 0, 1, 0xC4, 0, 0, 0, 0, UInt8(data.count), 0] + data
            packet.withUnsafeBytes { bytes in
                guard let report = try? DeviceReport(ManagementPacket(bytes)) else {
                    return promise(false, "a packet made right is read")
                }
                let moment = MonotonicTime(sinceOrigin: .seconds(Int(number)))
                _ = sightings.heard(report, by: MACAddress(bits: 1), at: moment)
            }
        }
        promise(sightings.sightings.count <= 2, "two devices are two sightings at most")
    }
}
