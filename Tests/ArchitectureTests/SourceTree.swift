import Foundation

/// The project's own source files, found from where this file lies.
enum SourceTree {
    static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    static let sources = root.appending(path: "Sources")
    static let tests = root.appending(path: "Tests")

    /// The folders directly below `folder`, by name.
    static func targets(in folder: URL) throws -> [String] {
        try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: [.isDirectoryKey])
            .filter { try $0.resourceValues(forKeys: [.isDirectoryKey]).isDirectory == true }
            .map(\.lastPathComponent).sorted()
    }

    /// Every Swift file below `folder`, with its text.
    static func swiftFiles(below folder: URL) throws -> [(name: String, text: String)] {
        let walker = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
        let files = (walker?.allObjects as? [URL] ?? []).filter { $0.pathExtension == "swift" }
        return try files.map { file in
            (String(file.path.dropFirst(root.path.count + 1)), try String(contentsOf: file, encoding: .utf8))
        }
    }

    /// Every text that people read: code, scripts, configuration and pages, whatever it is called.
    static func texts() throws -> [(name: String, text: String)] {
        let folders = ["Sources", "Tests", "Docs", "Packaging", "Scripts", "udev"].map { root.appending(path: $0) }
        let walked = folders.flatMap { folder in
            FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)?.allObjects as? [URL] ?? []
        }
        let single = ["README.md", "Makefile", "Package.swift"].map { root.appending(path: $0) }
        return try (walked + single).compactMap { file in
            guard try file.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile == true,
                !["png", "svg", "pcap", "pcapng", "gz", "bin"].contains(file.pathExtension),
                let text = try? String(contentsOf: file, encoding: .utf8)
            else { return nil }
            return (String(file.path.dropFirst(root.path.count + 1)), text)
        }
    }
}
