import Domain
import Testing

struct BackupPlanTests {
    private let kind = BackupName.Kind(prefix: "meterd-6f1c2a34", suffix: "sqlite")
    private let now = WallTime(millisecondsSince1970: 1_795_000_000_250)

    private func name(_ number: Int) -> String { "meterd-6f1c2a34-2026-01-01T00-00-00Z-\(number).sqlite" }

    @Test func firstBackup_isWrittenBeside_andHasItsNameLast() {
        let plan = BackupPlan(kind, at: now, among: ["notes.txt"], keep: 2)
        let file = "meterd-6f1c2a34-2026-11-18T11-06-40Z-1.sqlite"

        #expect(plan.name.file == file)
        let unfinished = file + ".unfinished"
        #expect(
            plan.steps == [
                .write(unfinished), .sync(unfinished), .check(unfinished), .rename(unfinished, to: file), .sync(""),
            ])
        #expect(BackupName(file, of: kind)?.written == WallTime("2026-11-18T11:06:40Z"))
    }

    /// The order is that of the numbers: a clock in 1970 does not make the newest backup the oldest.
    @Test func oldestByNumber_isDeletedLast_whateverTheDates() {
        let files = [
            name(9), name(10), name(2), "meterd-6f1c2a34-2099-01-01T00-00-00Z-1.sqlite", name(11) + ".unfinished",
        ]

        let plan = BackupPlan(kind, at: WallTime(millisecondsSince1970: 0), among: files, keep: 3)

        #expect(plan.name.file == "meterd-6f1c2a34-1970-01-01T00-00-00Z-11.sqlite")
        #expect(plan.steps.first == .remove(name(11) + ".unfinished"))
        #expect(plan.steps.suffix(3) == [.sync(""), .remove(files[3]), .remove(name(2))])
    }

    @Test(arguments: [
        "meterd-6f1c2a35-2026-01-01T00-00-00Z-1.sqlite", "meterd-6f1c2a34-2026-01-01T00-00-00Z-1.sqlite.unfinished",
        "meterd-6f1c2a34-2026-01-01T00-00-00Z-01.sqlite", "meterd-6f1c2a34-2026-13-01T00-00-00Z-1.sqlite",
        "meterd-6f1c2a34-2026-01-01T00:00:00Z-1.sqlite", "meterd-6f1c2a34-.sqlite", "meterd-6f1c2a34-1.sqlite", "",
        "meterd-6f1c2a34-2026-01-01T00-00-00Z-99999999999999999999.sqlite", "meterd-6f1c2a34-ü-1.sqlite",
    ])
    func otherName_isNoBackup_andStays(file: String) {
        #expect(BackupName(file, of: kind) == nil)
        #expect(
            !BackupPlan(kind, at: now, among: [file], keep: 2).steps.contains(.remove(file)) || file.contains("unfin"))
    }
}
