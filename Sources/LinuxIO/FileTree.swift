import CLinux
import Glibc

/// Reads /dev and /sys, which may change at any moment. So a missing or unreadable file is empty or nil, not an error.
package enum FileTree {
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

    /// Returns the character device at a path; nil if there is none. A device that was removed and created again
    /// compares unequal.
    package static func characterDevice(at path: String) -> CharacterDevice? {
        var found = stat()
        guard stat(path, &found) == 0, found.st_mode & S_IFMT == S_IFCHR else { return nil }
        return CharacterDevice(number: found.st_rdev, node: found.st_ino)
    }

    package struct CharacterDevice: Hashable, Sendable {
        fileprivate var number: dev_t
        fileprivate var node: ino_t
    }

    /// Returns whether the path exists, even as a dangling link.
    package static func exists(_ path: String) -> Bool { cl_exists(path) == 1 }

    package static func canonical(_ path: String) -> String? {
        guard let resolved = realpath(path, nil) else { return nil }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    /// Returns the start of a small text file, without surrounding blanks and line ends, if it exists.
    package static func text(at path: String, bytesMax: Int = 256) -> String? {
        guard let file = try? FileDescriptor(opening: path, O_RDONLY) else {
            return nil
        }
        var bytes = [UInt8](repeating: 0, count: bytesMax)
        guard let count = try? bytes.withUnsafeMutableBytes({ try file.read(into: $0) }) else { return nil }
        let isBlank = { (byte: UInt8) in byte <= 0x20 }
        let text = bytes.prefix(count).drop(while: isBlank)
        guard let last = text.lastIndex(where: { !isBlank($0) }) else { return nil }
        return String(decoding: text[...last], as: UTF8.self)
    }

    /// Returns a whole file that the kernel generates; nil if missing or longer than `limit` bytes.
    package static func contents(at path: String, atMost limit: Int) -> String? {
        bytes(at: path, atMost: limit).map { String(decoding: $0, as: UTF8.self) }
    }

    package static func bytes(at path: String, atMost limit: Int) -> [UInt8]? {
        (try? WholeFile.bytes(path, atMost: limit)) ?? nil
    }

    static func linkTarget(_ path: String) -> String? {
        var bytes = [CChar](repeating: 0, count: 4096)
        let count = readlink(path, &bytes, bytes.count)
        guard count >= 0 else { return nil }
        return String(decoding: bytes.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
