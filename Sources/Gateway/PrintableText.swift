extension Character {
    /// Safe to print on a terminal: no control character, of the old set or the new (80 to 9F).
    package var isPrintable: Bool {
        !isNewline
            && unicodeScalars.allSatisfy { scalar in
                scalar.value >= 0x20 && !(0x7F...0x9F).contains(scalar.value)
            }
    }
}
