/// Splits bytes into lines. Drops empty lines, which are keep-alives.
package struct LineSplitter: Sendable {
    package struct LineTooLong: Error {}

    private let lengthMax: Int
    private var rest: [UInt8] = []

    /// - Parameter lengthMax: in bytes; a longer line throws.
    package init(lengthMax: Int = .max) { self.lengthMax = lengthMax }

    /// Returns the completed lines, without line ends.
    package mutating func split(_ bytes: [UInt8]) throws(LineTooLong) -> [[UInt8]] {
        var lines: [[UInt8]] = []
        var start = 0
        while let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) {
            let line = rest + bytes[start..<end]
            guard line.count <= lengthMax else { throw LineTooLong() }
            rest.removeAll()
            if !line.isEmpty { lines.append(line) }
            start = end + 1
        }
        rest += bytes[start...]
        guard rest.count <= lengthMax else { throw LineTooLong() }
        return lines
    }
}
