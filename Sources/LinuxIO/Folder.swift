import Glibc

package enum Folder {
    /// Creates missing folders with `mode`. Existing folders keep their mode.
    package static func make(_ path: String, mode: UInt32 = 0o750) throws(Errno) {
        var partial = path.hasPrefix("/") ? "/" : ""
        for name in path.split(separator: "/") {
            partial += partial.isEmpty || partial.hasSuffix("/") ? "\(name)" : "/\(name)"
            guard mkdir(partial, mode) != 0 else { continue }
            let error = Errno(errno)
            var status = stat()
            let isFolder = stat(partial, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
            if !isFolder { throw error }
        }
    }

    package static func isOurs(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_uid == geteuid() && status.st_mode & 0o022 == 0
    }
}

extension String {
    package var parentFolder: String {
        guard let slash = lastIndex(of: "/") else { return "." }
        return slash == startIndex ? "/" : String(self[..<slash])
    }
}
