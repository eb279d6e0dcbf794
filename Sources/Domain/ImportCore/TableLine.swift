/// Splits a line of a table (RFC 4180, but without line ends in quotes, which no table of readings has).
struct TableLine {
    /// Separator: `,`, `;`, a tab or a space. Several spaces count as one.
    let separator: UInt8

    /// Returns the fields of a line; nil if a quote is not closed.
    func fields(_ line: ArraySlice<UInt8>) -> [ArraySlice<UInt8>]? {
        var fields: [ArraySlice<UInt8>] = []
        var start = line.startIndex
        while true {
            if separator == UInt8(ascii: " ") {
                while start < line.endIndex, line[start] == separator { start += 1 }
                if start == line.endIndex { return fields }
            }
            if start < line.endIndex, line[start] == UInt8(ascii: "\"") {
                guard let (field, end) = quoted(line, from: start + 1) else { return nil }
                fields.append(field)
                start = end
            } else {
                let end = line[start...].firstIndex(of: separator) ?? line.endIndex
                fields.append(line[start..<end])
                start = end
            }
            guard start < line.endIndex else { return fields }
            // Another field follows the separator, even at the end of the line, where it is empty. After a trailing
            // space, none follows.
            start += 1
        }
    }

    /// Reads a quoted field.
    ///
    /// - Returns: the text, in which doubled quotes become single ones, and the index of the next separator.
    private func quoted(_ line: ArraySlice<UInt8>, from start: Int) -> (ArraySlice<UInt8>, Int)? {
        var text: [UInt8] = []
        var index = start
        while index < line.endIndex {
            guard line[index] == UInt8(ascii: "\"") else {
                text.append(line[index])
                index += 1
                continue
            }
            let next = index + 1
            if next == line.endIndex || line[next] == separator { return (text[...], next) }
            guard line[next] == UInt8(ascii: "\"") else { return nil }
            text.append(line[next])
            index = next + 1
        }
        return nil
    }
}
