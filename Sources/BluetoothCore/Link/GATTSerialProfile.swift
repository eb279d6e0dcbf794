/// The characteristics that carry a meter's bytes, and the kind of write.
///
/// Meters put a serial line behind GATT in three ways (Docs/Protocols/UM.md#links, Docs/Protocols/TC66.md#links,
/// Docs/Protocols/FNIRSI.md#bluetooth-le and Docs/Protocols/Atorch.md#links). Names are unreliable: a TC66C calls
/// itself `BT24-M`, and the owner of an FNB58 can set any name. So the characteristics and their properties decide. The
/// first matching rule applies:
///
/// 1. `FFE0/FFE4` notifies and `FFE5/FFE9` accepts writes: an RF-star module, in TC66C up to firmware 1.14 and in all
///    FNIRSI meters. Written with response if the property allows it: the TC66C gives no answer otherwise, and the
///    FNIRSI accept both.
/// 2. `FFE0/FFE1` notifies and accepts writes itself: RuiDeng's UM meters, their clones and Atorch. A write-only
///    `FFE2`, in the UM's module DX-BT18 and some Atorch, writes to the same line. Only `switchOutput` selects it: some
///    Atorch ignore writes to the first (syssi/esphome-atorch-dl24 writes only this).
/// 3. `FFE0/FFE1` notifies and cannot be written, and `FFE0/FFE2` can: TC66C from firmware 1.15 on (module DX-BT24),
///    and Atorch meters built like it.
///
/// In 2 and 3, writes are sent without response if the property allows it, because the DX-BT24 lists both kinds but
/// refuses writes with response on some hosts.
package struct GATTSerialProfile: Hashable, Sendable {
    package var shape: Shape
    private var way: Way
    private var spare: Way?
    package var input: GATTCharacteristic

    package enum Shape: String, CaseIterable, Sendable {
        /// Rule 1 of `GATTSerialProfile`.
        case twoServices = "FFE5/FFE9 to FFE0/FFE4"
        /// Rule 2 of `GATTSerialProfile`.
        case oneCharacteristic = "FFE0/FFE1"
        /// Rule 3 of `GATTSerialProfile`.
        case twoCharacteristics = "FFE0/FFE2 to FFE0/FFE1"
    }

    package enum WriteKind: Hashable, Sendable {
        case withResponse, withoutResponse

        var other: WriteKind { self == .withResponse ? .withoutResponse : .withResponse }
    }

    private struct Way: Hashable, Sendable {
        var output: UInt16
        var writeKind: WriteKind
        var allowsOtherKind: Bool

        init(_ output: GATTCharacteristic, _ kind: WriteKind) {
            self.output = output.value
            writeKind = kind
            allowsOtherKind = output.properties.isSuperset(of: [.write, .writeWithoutResponse])
        }
    }

    package var output: UInt16 { way.output }
    package var writeKind: WriteKind { way.writeKind }

    package static let services: Set<BluetoothUUID> = [.serialInput, .serialOutput]

    /// Finds the matching rule. Nil for an unknown device.
    ///
    /// - Parameter database: includes the characteristics of `services`.
    package init?(_ database: GATTDatabase) {
        let single = database.characteristic(.ffe1, of: .serialInput)
        if let input = database.characteristic(.ffe4, of: .serialInput), input.tells,
            let output = database.characteristic(.ffe9, of: .serialOutput),
            let kind = output.writeKind(preferring: .withResponse)
        {
            self.init(.twoServices, from: input, to: output, kind)
        } else if let single, single.tells, let kind = single.writeKind(preferring: .withoutResponse) {
            self.init(.oneCharacteristic, from: single, to: single, kind)
            if let other = database.characteristic(.ffe2, of: .serialInput),
                let kind = other.writeKind(preferring: .withoutResponse)
            {
                spare = Way(other, kind)
            }
        } else if let single, single.tells, let output = database.characteristic(.ffe2, of: .serialInput),
            let kind = output.writeKind(preferring: .withoutResponse)
        {
            self.init(.twoCharacteristics, from: single, to: output, kind)
        } else {
            return nil
        }
    }

    private init(_ shape: Shape, from input: GATTCharacteristic, to output: GATTCharacteristic, _ kind: WriteKind) {
        self.shape = shape
        self.input = input
        way = Way(output, kind)
    }

    package var subscription: GATTSubscription {
        input.properties.contains(.notify) ? .notifications : .indications
    }

    /// Switches to the other characteristic that accepts writes, if there is one. A second call switches back.
    mutating func switchOutput() -> Bool {
        guard let other = spare else { return false }
        (way, spare) = (other, way)
        return true
    }

    /// Switches to the other kind of write, if there is one. Never switches back.
    mutating func switchWriteKind() -> Bool {
        guard way.allowsOtherKind else { return false }
        (way.writeKind, way.allowsOtherKind) = (way.writeKind.other, false)
        return true
    }
}

extension GATTCharacteristic {
    fileprivate var tells: Bool { !properties.isDisjoint(with: [.notify, .indicate]) }

    fileprivate func writeKind(preferring preferred: GATTSerialProfile.WriteKind) -> GATTSerialProfile.WriteKind? {
        switch (properties.contains(.write), properties.contains(.writeWithoutResponse)) {
        case (true, true): preferred
        case (true, false): .withResponse
        case (false, true): .withoutResponse
        case (false, false): nil
        }
    }
}

extension BluetoothUUID {
    // Unassigned numbers used by makers of serial modules.
    fileprivate static let serialInput = BluetoothUUID(short: 0xFFE0)
    fileprivate static let serialOutput = BluetoothUUID(short: 0xFFE5)
    fileprivate static let ffe1 = BluetoothUUID(short: 0xFFE1)
    fileprivate static let ffe2 = BluetoothUUID(short: 0xFFE2)
    fileprivate static let ffe4 = BluetoothUUID(short: 0xFFE4)
    fileprivate static let ffe9 = BluetoothUUID(short: 0xFFE9)
}
