import Foundation
import Testing

/// Comments say what a value is, then when it is nil.
struct WordingTests {
    @Test func comments_doNotBeginWithNil() throws {
        for file in try SourceTree.swiftFiles(below: SourceTree.sources) {
            #expect(!Self.comments(in: file.text).contains("\nnil:"), "\(file.name): say what the value is")
        }
    }

    /// A check that cannot fail is worth nothing.
    @Test func comments_areFound() {
        let code = "/// nil: nobody.\nlet a = 1 // one\n    // two"
        #expect(Self.comments(in: code) == "\nnil: nobody.\ntwo")
    }

    /// The comments that have lines of their own, a line each.
    private static func comments(in code: String) -> String {
        code.split(separator: "\n").map { $0.drop { $0 == " " } }.filter { $0.hasPrefix("//") }
            .map { "\n" + $0.drop { $0 == "/" || $0 == " " } }.joined()
    }
}
