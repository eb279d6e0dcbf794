import Domain
import Testing

struct LineSplitterTests {
    private func lines(_ chunks: [String]) throws -> [String] {
        var splitter = LineSplitter()
        return try chunks.flatMap { try splitter.split(Array($0.utf8)) }.map { String(decoding: $0, as: UTF8.self) }
    }

    @Test(
        arguments: [
            (["{}\n"], ["{}"]), (["{", "}", "\n[]\n"], ["{}", "[]"]), (["a\nb\nc"], ["a", "b"]), ([""], []),
            (["\n\n"], []), (["\na\n", "\n", "\nb\n"], ["a", "b"]), (["a", "", "\n"], ["a"]),
        ] as [([String], [String])])
    func lines_areWhole_andNeverEmpty(_ chunks: [String], _ expected: [String]) throws {
        #expect(try lines(chunks) == expected)
    }

    @Test func lines_areTheSame_howeverTheyArrive() throws {
        let text = Array("one\n\ntwo\nthree\nfo")
        for size in 1...text.count {
            let chunks = stride(from: 0, to: text.count, by: size).map { String(text[$0..<min($0 + size, text.count)]) }
            #expect(try lines(chunks) == ["one", "two", "three"])
        }
    }

    @Test func lineThatIsTooLong_endsIt() throws {
        var splitter = LineSplitter(lengthMax: 3)
        #expect(try splitter.split(Array("one\nsix".utf8)).count == 1)
        #expect(throws: LineSplitter.LineTooLong.self) { try splitter.split(Array("t".utf8)) }
    }

    /// However it arrives, a line may be as long as allowed and no longer.
    @Test func longestLine_isTheSame_howeverItArrives() throws {
        for text in ["four\n", "one\nfour\n", "four\nfour\n"] {
            for size in 1...text.count {
                let chunks = stride(from: 0, to: text.count, by: size).map {
                    Array(text.utf8)[$0..<min($0 + size, text.count)]
                }
                var (wide, narrow) = (LineSplitter(lengthMax: 4), LineSplitter(lengthMax: 3))
                let whole = try chunks.flatMap { try wide.split(Array($0)) }
                #expect(whole.last == Array("four".utf8))
                #expect(throws: LineSplitter.LineTooLong.self) {
                    for chunk in chunks { _ = try narrow.split(Array(chunk)) }
                }
            }
        }
    }
}
