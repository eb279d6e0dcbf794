/// File name of a backup: `meterd-6f1c2a34-2026-11-29T22-30-00Z-12.sqlite`. Only the number (12) orders backups,
/// because a date may come from a wrong clock.
package struct BackupName: Hashable, Sendable {
    /// Prefix and suffix of a program's backups. Other files in the folder are not touched.
    package struct Kind: Hashable, Sendable {
        var prefix, suffix: String

        /// - Parameters:
        ///   - prefix: without the dash after it.
        ///   - suffix: without its dot.
        package init(prefix: String, suffix: String) { (self.prefix, self.suffix) = ("\(prefix)-", ".\(suffix)") }
    }

    package let written: WallTime
    let number: UInt64
    package let file: String

    /// - Parameter date: stored to the second.
    init(_ kind: Kind, at date: WallTime, number: UInt64) {
        let text = "\("\(date)".prefix(19))Z"
        written = WallTime(text) ?? WallTime(millisecondsSince1970: 0)
        file = "\(kind.prefix)\(text.replacing(":", with: "-"))-\(number)\(kind.suffix)"
        self.number = number
    }

    /// Nil if the file is not a backup of this kind.
    package init?(_ file: String, of kind: Kind) {
        let rest = Array(file.utf8.dropFirst(kind.prefix.utf8.count).dropLast(kind.suffix.utf8.count))
        guard rest.count > 21, let number = UInt64(String(decoding: rest[21...], as: UTF8.self)) else { return nil }
        let parts = [rest[..<13], rest[14..<16], rest[17..<20]].map { String(decoding: $0, as: UTF8.self) }
        let date = parts.joined(separator: ":")
        guard let written = WallTime(date) else { return nil }
        self.init(kind, at: written, number: number)
        guard self.file == file else { return nil }
    }
}

/// Step of a backup; the values are names in the backup folder. The first steps remove unfinished files, the last ones
/// the oldest backups.
package enum BackupStep: Hashable, Sendable {
    case remove(String)
    /// Writes the copy, under an unfinished name.
    case write(String)
    /// Flushes the file to disk, or the folder if the name is empty.
    case sync(String)
    /// Checks the whole copy before it is renamed, so a finished name means a good backup.
    case check(String)
    case rename(String, to: String)
}

package struct BackupPlan: Hashable, Sendable {
    private static let mark = ".unfinished"

    package let name: BackupName
    package let steps: [BackupStep]
    package var unfinished: String { name.file + Self.mark }

    /// - Parameters:
    ///   - files: all names in the folder.
    ///   - keep: number of backups, including the new one.
    package init(_ kind: BackupName.Kind, at date: WallTime, among files: [String], keep: Int) {
        let present = Self.backups(of: kind, among: files)
        name = BackupName(kind, at: date, number: (present.last?.number ?? 0) &+ 1)
        let new = name.file + Self.mark
        let leftovers = files.filter { $0.hasPrefix(kind.prefix) && $0.contains(Self.mark) }.sorted()
        steps =
            leftovers.map(BackupStep.remove)
            + [.write(new), .sync(new), .check(new), .rename(new, to: name.file), .sync("")]
            + present.dropLast(max(0, keep - 1)).map { .remove($0.file) }
    }

    /// Returns the finished backups, oldest first.
    package static func backups(of kind: BackupName.Kind, among files: [String]) -> [BackupName] {
        files.compactMap { BackupName($0, of: kind) }.sorted { ($0.number, $0.file) < ($1.number, $1.file) }
    }
}
