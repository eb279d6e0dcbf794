/// Which characteristics of a meter carry its bytes, and how they are written.
///
/// Meters put a serial line behind GATT in three ways (Docs/Protocols/UM.md#links, Docs/Protocols/TC66.md#links,
/// Docs/Protocols/FNIRSI.md#bluetooth-le and Docs/Protocols/Atorch.md#links). Names lie (a TC66C calls itself `BT24-M`,
/// an FNB58 what its owner likes), so what exists, and what it says can be done with it, decides. The first rule that
/// holds:
///
/// 1. `FFE0/FFE4` notifies and `FFE5/FFE9` takes writes: an RF-star module, in TC66C up to firmware 1.14 and in all
///    FNIRSI meters. Written with response where the property is there: the TC66C gives no answer otherwise, and the
///    FNIRSI take both.
/// 2. `FFE0/FFE1` notifies and takes writes itself: RuiDeng's UM meters, their clones and Atorch. A write-only `FFE2`
///    beside it, which the UM's module DX-BT18 and some Atorch have, is a second door to the same line and not used.
/// 3. `FFE0/FFE1` notifies and cannot be written, and `FFE0/FFE2` can: TC66C from firmware 1.15 on (module DX-BT24), and
///    Atorch that are built like it.
///
/// In 2 and 3 a write needs no response where the property allows: the DX-BT24 lists both and refuses the other on some
/// hosts. So rules 2 and 3 differ by whether `FFE1` itself takes writes, and not by whether `FFE2` is there.
package struct GATTSerialProfile: Hashable, Sendable {
    package var shape: Shape
    /// The attribute that is written to.
    package var output: UInt16
    package var writeKind: WriteKind
    /// The output's other kind of write is allowed, too.
    package var allowsOtherKind: Bool
    /// The characteristic that the meter's bytes come from.
    package var input: GATTCharacteristic

    package enum Shape: String, CaseIterable, Sendable {
        /// Rule 1.
        case twoServices = "FFE5/FFE9 to FFE0/FFE4"
        /// Rule 2.
        case oneCharacteristic = "FFE0/FFE1"
        /// Rule 3.
        case twoCharacteristics = "FFE0/FFE2 to FFE0/FFE1"
    }

    package enum WriteKind: Hashable, Sendable {
        case withResponse, withoutResponse

        var other: WriteKind { self == .withResponse ? .withoutResponse : .withResponse }
    }

    /// The services that any rule looks at.
    package static let services: Set<BluetoothUUID> = [.serialInput, .serialOutput]

    /// Finds the rule that holds.
    ///
    /// - Parameter database: with the characteristics of `services`.
    /// - Returns: nil where none does: that is no meter known here.
    package init?(_ database: GATTDatabase) {
        let single = database.characteristic(.ffe1, of: .serialInput)
        if let input = database.characteristic(.ffe4, of: .serialInput), input.tells,
            let output = database.characteristic(.ffe9, of: .serialOutput),
            let kind = output.writeKind(preferring: .withResponse)
        {
            self.init(.twoServices, from: input, to: output, kind)
        } else if let single, single.tells, let kind = single.writeKind(preferring: .withoutResponse) {
            self.init(.oneCharacteristic, from: single, to: single, kind)
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
        self.output = output.value
        writeKind = kind
        allowsOtherKind = output.properties.isSuperset(of: [.write, .writeWithoutResponse])
    }

    /// What is to be written to the input's configuration: notifications where it has them.
    package var subscription: GATTSubscription {
        input.properties.contains(.notify) ? .notifications : .indications
    }

    /// Goes over to the other kind of write, where there is one. Once: it does not go back.
    mutating func switchWriteKind() -> Bool {
        guard allowsOtherKind else { return false }
        writeKind = writeKind.other
        allowsOtherKind = false
        return true
    }
}

extension GATTCharacteristic {
    /// It tells of its values by itself.
    fileprivate var tells: Bool { !properties.isDisjoint(with: [.notify, .indicate]) }

    /// How it is written; nil where it is not.
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
    // Not assigned by anybody: what makers of serial modules use.
    fileprivate static let serialInput = BluetoothUUID(short: 0xFFE0)
    fileprivate static let serialOutput = BluetoothUUID(short: 0xFFE5)
    fileprivate static let ffe1 = BluetoothUUID(short: 0xFFE1)
    fileprivate static let ffe2 = BluetoothUUID(short: 0xFFE2)
    fileprivate static let ffe4 = BluetoothUUID(short: 0xFFE4)
    fileprivate static let ffe9 = BluetoothUUID(short: 0xFFE9)
}
