/// Line of a CSV table (RFC 4180), except that a quoted field cannot contain a line end.
struct TableLine {
    /// `,`, `;`, a tab or a space. Several spaces count as one.
    let separator: UInt8

    /// Nil if a quote is not closed.
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
            // A trailing separator starts an empty field, except for a space.
            start += 1
        }
    }

    /// Returns the field, with doubled quotes made single, and the index of the next separator.
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
