import Glibc

/// Writes the inputs that a fuzzer starts from.
enum Seeds {
    static func write(_ target: FuzzTarget, to folder: String) {
        for (index, seed) in target.seeds().enumerated() where !seed.isEmpty {
            let path = "\(folder)/\(index < 10 ? "0" : "")\(index)"
            guard let file = fopen(path, "w") else { fail("\(path) cannot be written: does \(folder) exist?") }
            let written = fwrite(seed, 1, seed.count, file)
            guard fclose(file) == 0, written == seed.count else { fail("\(path) cannot be written") }
        }
    }
}

/// Ends the program with a word on why.
func fail(_ message: String) -> Never {
    let line = Array("Fuzz: error: \(message)\n".utf8)
    // Nothing can be done where even this cannot be written.
    _ = Glibc.write(2, line, line.count)
    exit(2)
}
