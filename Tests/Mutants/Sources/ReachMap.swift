import Foundation

/// Where a suite's run notes which mutants' places it comes by: a file with a byte for each, which the run and whatever
/// programs it starts have in their memory.
struct ReachMap {
    let folder: URL
    let count: Int

    func file(for suite: Suite) throws -> URL {
        let file = folder.appending(path: ".build/reached.\(suite)")
        try Data(count: count).write(to: file)
        return file
    }

    /// Reads the file, and removes it.
    func read(_ file: URL) throws -> Set<Int> {
        defer { try? FileManager.default.removeItem(at: file) }
        return Set(try Data(contentsOf: file).enumerated().filter { $0.element != 0 }.map(\.offset))
    }
}
