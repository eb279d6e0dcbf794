import Foundation

/// A copy of the project in which mutants are built. The project itself is only read.
struct WorkingCopy {
    let project: URL
    let folder: URL
    private let files = FileManager.default

    /// Makes the copy the same as the project's files that git knows or would know. What was built there stays.
    init(of project: URL, in work: URL) throws {
        self.project = project
        folder = work.appending(path: "copy")
        try files.createDirectory(at: folder, withIntermediateDirectories: true)
        var wanted = Set(
            try Shell.output(["git", "ls-files", "-co", "--exclude-standard", "-z"], in: project).split(separator: "\0")
                .map(String.init))
        wanted.insert("Sources/CBuildInfo/commit.h")
        for name in wanted where files.fileExists(atPath: project.appending(path: name).path) {
            try copy(name)
        }
        for name in try present() where !wanted.contains(name) {
            try files.removeItem(at: folder.appending(path: name))
        }
    }

    private func copy(_ name: String) throws {
        let from = project.appending(path: name)
        let to = folder.appending(path: name)
        if let link = try? files.destinationOfSymbolicLink(atPath: from.path) {
            try? files.removeItem(at: to)
            try makeFolder(of: to)
            try files.createSymbolicLink(atPath: to.path, withDestinationPath: link)
            return
        }
        // What is the same keeps its time, so that it is not built again.
        if files.contentsEqual(atPath: from.path, andPath: to.path) { return }
        try? files.removeItem(at: to)
        try makeFolder(of: to)
        try files.copyItem(at: from, to: to)
    }

    private func makeFolder(of file: URL) throws {
        try files.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    }

    /// The files of the copy, without what was built.
    private func present() throws -> [String] {
        let found = try Shell.output(
            ["find", ".", "-path", "./.build", "-prune", "-o", "(", "-type", "f", "-o", "-type", "l", ")", "-print0"],
            in: folder)
        return found.split(separator: "\0").map { String($0.dropFirst(2)) }.filter { $0 != "Package.resolved" }
    }

    // MARK: Writing

    /// Tolerates warnings, as a mutant may make a variable that is never changed, and drops packages that no target uses.
    func writeManifest() throws {
        let manifest = try String(contentsOf: project.appending(path: "Package.swift"), encoding: .utf8)
        try write(
            """
            \(manifest)
            for target in package.targets where !target.isC {
                target.swiftSettings = [
                    .enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("InternalImportsByDefault"),
                    .enableUpcomingFeature("MemberImportVisibility"),
                ]
            }
            let mutantPackages = Set(
                package.targets.flatMap(\\.dependencies).compactMap { dependency -> String? in
                    if case .productItem(_, let package, _, _) = dependency { return package }
                    return nil
                })
            package.dependencies.removeAll { dependency in
                guard case .sourceControl(_, let location, _) = dependency.kind else { return false }
                return !mutantPackages.contains { location.hasSuffix("/\\($0)") }
            }
            """, to: "Package.swift")
    }

    /// Writes every file as in the project, with these mutants built in.
    ///
    /// - Returns: where each of them stands in the copy, by its number: the file and its lines.
    func build(in mutants: [Mutant], of targets: [String]) throws -> [Int: (file: String, lines: ClosedRange<Int>)] {
        var places: [Int: (file: String, lines: ClosedRange<Int>)] = [:]
        let byFile = Dictionary(grouping: mutants, by: \.file)
        for target in Set(targets.map(PackageGraph.target)) {
            try write(Self.theSwitch, to: "Sources/\(target)/MutantSwitch.swift")
            for file in try sources(of: target) {
                let source = try self.source(file)
                guard let here = byFile[file] else {
                    try write(source, to: file)
                    continue
                }
                let bytes = Array(source.utf8)
                var written: [UInt8] = []
                var line = 1
                var place = 0
                func append(_ more: some Sequence<UInt8>) {
                    for byte in more {
                        written.append(byte)
                        if byte == UInt8(ascii: "\n") { line += 1 }
                    }
                }
                for mutant in here.sorted(by: { $0.range.lowerBound < $1.range.lowerBound }) {
                    append(bytes[place..<mutant.range.lowerBound])
                    let first = line
                    append("\(mutant.head)mutant(\(mutant.id))\(mutant.tail)".utf8)
                    places[mutant.id] = (file, first...line)
                    place = mutant.range.upperBound
                }
                append(bytes[place...])
                try write(String(decoding: written, as: UTF8.self), to: file)
            }
        }
        return places
    }

    /// Swift files of a folder of Sources, from the project's folder.
    func sources(of folder: String) throws -> [String] {
        try Shell.output(["git", "ls-files", "-co", "--exclude-standard", "Sources/\(folder)"], in: project)
            .split(separator: "\n").map(String.init).filter { $0.hasSuffix(".swift") }.sorted()
    }

    func source(_ file: String) throws -> String {
        try String(contentsOf: project.appending(path: file), encoding: .utf8)
    }

    private func write(_ text: String, to name: String) throws {
        let file = folder.appending(path: name)
        if let present = try? String(contentsOf: file, encoding: .utf8), present == text { return }
        try text.write(to: file, atomically: true, encoding: .utf8)
    }

    /// Which mutant is in force is said by the environment of the test run; where it notes which of them it comes by, too.
    private static let theSwitch = """
        import Glibc

        private let mutantInForce = getenv("MUTANT").flatMap { Int(String(cString: $0)) }

        nonisolated(unsafe) private let reached: UnsafeMutableBufferPointer<UInt8>? = {
            guard let path = getenv("MUTANTS_REACHED") else { return nil }
            let file = open(path, O_RDWR)
            let size = Int(lseek(file, 0, SEEK_END))
            let memory = mmap(nil, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0)!
            close(file)
            return UnsafeMutableBufferPointer(start: memory.assumingMemoryBound(to: UInt8.self), count: size)
        }()

        @usableFromInline @inline(never) func mutant(_ id: Int) -> Bool {
            if let reached, id < reached.count { reached[id] = 1 }
            return mutantInForce == id
        }

        """
}
