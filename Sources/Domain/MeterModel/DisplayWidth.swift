/// Width in terminal cells: two for East Asian letters and most emoji, none for combining marks.
///
/// The text must be safe to show (`visible`), without control characters and joiners.
extension StringProtocol {
    package var displayWidth: Int {
        if utf8.allSatisfy({ $0 < 0x80 }) { return utf8.count }
        return reduce(0) { $0 + $1.displayWidth }
    }

    /// Cuts the text to this many terminal cells, with `…` for the rest.
    package func fitting(_ cells: Int) -> String {
        guard displayWidth > cells else { return String(self) }
        return prefix(cells: cells - 1) + (cells > 0 ? "…" : "")
    }

    package func prefix(cells: Int) -> String {
        var room = cells
        return String(
            prefix { letter in
                room -= letter.displayWidth
                return room >= 0
            })
    }

    package func padded(toCells cells: Int) -> String {
        String(self) + String(repeating: " ", count: Swift.max(0, cells - displayWidth))
    }
}

extension Character {
    /// In terminal cells: 0, 1 or 2.
    package var displayWidth: Int {
        var width = 0
        for scalar in unicodeScalars {
            // The emoji variation selector turns a letter such as ❤ into a picture.
            if scalar.value == 0xFE0F, width == 1 { return 2 }
            // Swift joins Japanese halfwidth voicing marks with the letter before; terminals give them a cell.
            if width == 0 { width = scalar.displayWidth } else if scalar.isVoicingMark { width += 1 }
        }
        return width
    }
}

extension Unicode.Scalar {
    fileprivate var isVoicingMark: Bool { value == 0xFF9E || value == 0xFF9F }

    fileprivate var displayWidth: Int {
        if value < 0x300 { return 1 }
        switch properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format: return 0
        default: break
        }
        // The middle and last parts of a Korean syllable share the first part's cells.
        if (0x1160...0x11FF).contains(value) || (0xD7B0...0xD7FF).contains(value) { return 0 }
        return properties.isEmojiPresentation || Self.isWide(value) ? 2 : 1
    }

    /// Whether East_Asian_Width is Wide or Fullwidth, approximated by whole blocks.
    private static func isWide(_ value: UInt32) -> Bool {
        wide.contains { $0.contains(value) }
    }

    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x2329...0x232A, 0x2E80...0x303E, 0x3041...0x4DBF, 0x4E00...0xA4CF, 0xA960...0xA97F,
        0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE10...0xFE19, 0xFE30...0xFE6F, 0xFF01...0xFF60, 0xFFE0...0xFFE6,
        0x16FE0...0x18DFF, 0x1AFF0...0x1B2FF, 0x1F200...0x1F64F, 0x1F680...0x1F6FF,
        0x1F900...0x1F9FF, 0x20000...0x3FFFD,
    ]
}
