/// An offer: an object in a list of capabilities, with its number.
package struct PDOffer: Hashable, Sendable {
    /// Number used in requests, from 1; in the extended range from 8.
    package let position: Int
    package let word: UInt32

    package init(position: Int, word: UInt32) {
        self.position = position
        self.word = word
    }

    package var object: PDSourceObject { PDSourceObject(word: word) }

    /// Returns the offers in a list, without the zero objects that pad it before the extended range.
    package static func all(in words: [UInt32]) -> [PDOffer] {
        words.enumerated().filter { $0.element != 0 }.map { PDOffer(position: $0.offset + 1, word: $0.element) }
    }

    /// Abilities of the sender, in words. Only the first object, a fixed supply of 5 V, contains them (Linux,
    /// include/linux/usb/pd.h, PDO_FIXED_…; bit 23: elagil/usbpd, source_capabilities.rs).
    package var abilities: [String] {
        guard position == 1, word >> 30 == 0 else { return [] }
        return Self.abilityNames.filter { word >> $0.bit & 1 == 1 }.map(\.name)
    }

    private static let abilityNames: [(bit: UInt32, name: String)] = [
        (29, "can swap power roles"), (28, "USB may be suspended"), (27, "does not run from a battery"),
        (26, "speaks USB"), (25, "can swap data roles"), (24, "takes long messages whole"),
        (23, "knows the extended range"),
    ]
}

extension PDOffer: CustomStringConvertible {
    package var description: String { object.description }
}
