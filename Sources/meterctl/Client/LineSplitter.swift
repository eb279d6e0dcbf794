/// Cuts a stream of bytes into lines. Empty lines are left out: a daemon may send them to show that it lives.
struct LineSplitter {
    private var pending: [UInt8] = []
    /// Where the first line that was not taken begins.
    private var start = 0

    mutating func append(_ bytes: some Sequence<UInt8>) {
        pending.removeFirst(start)
        start = 0
        pending += bytes
    }

    /// The next whole line without its end, nil until more bytes come.
    mutating func next() -> [UInt8]? {
        while let end = pending[start...].firstIndex(of: UInt8(ascii: "\n")) {
            let line = pending[start..<end]
            start = end + 1
            if !line.isEmpty { return Array(line) }
        }
        return nil
    }
}
