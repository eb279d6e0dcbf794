import CLinux
import Glibc

/// Looks at /dev and /sys. What is not there, or may not be read, is empty or nil means both trees change under one's
/// hands.
package enum FileTree {
    /// The names in a folder, sorted, without `.` and `..`.
    package static func names(in folder: String) -> [String] {
        guard let stream = opendir(folder) else { return [] }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }

    package static func isCharacterDevice(_ path: String) -> Bool { cl_is_character_device(path) == 1 }

    /// Anything at all at the path, even a link to nothing.
    package static func exists(_ path: String) -> Bool { cl_exists(path) == 1 }

    /// The path without links and dots.
    package static func canonical(_ path: String) -> String? {
        guard let resolved = realpath(path, nil) else { return nil }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    /// The start of a small text file, without blanks and line ends around it; nil where there is none.
    ///
    /// - Parameter bytesMax: how much of it.
    package static func text(at path: String, bytesMax: Int = 256) -> String? {
        guard let file = try? FileDescriptor(opening: path, O_RDONLY) else {
            return nil  // Not there is an answer here.
        }
        var bytes = [UInt8](repeating: 0, count: bytesMax)
        // An attribute of a device that was just unplugged fails to read; it is gone, as if it had not been there.
        guard let count = try? bytes.withUnsafeMutableBytes({ try file.read(into: $0) }) else { return nil }
        let isBlank = { (byte: UInt8) in byte <= 0x20 }
        let text = bytes.prefix(count).drop(while: isBlank)
        guard let last = text.lastIndex(where: { !isBlank($0) }) else { return nil }
        return String(decoding: text[...last], as: UTF8.self)
    }

    /// The whole of a file that the kernel makes up as it is read; nil where there is none, or more than `limit` bytes.
    package static func contents(at path: String, atMost limit: Int) -> String? {
        bytes(at: path, atMost: limit).map { String(decoding: $0, as: UTF8.self) }
    }

    /// The same, of a file that is no text.
    package static func bytes(at path: String, atMost limit: Int) -> [UInt8]? {
        guard let file = try? FileDescriptor(opening: path, O_RDONLY) else {
            return nil  // Not there is an answer here.
        }
        var all: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 64 * 1024)
        while all.count <= limit {
            // A part of it is no answer.
            guard let count = try? chunk.withUnsafeMutableBytes({ try file.read(into: $0) }) else { return nil }
            guard count > 0 else { return all }
            all += chunk.prefix(count)
        }
        return nil
    }

    static func linkTarget(_ path: String) -> String? {
        var bytes = [CChar](repeating: 0, count: 4096)
        let count = readlink(path, &bytes, bytes.count)
        guard count >= 0 else { return nil }
        return String(decoding: bytes.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
