import Domain
import Testing

@testable import meterd

struct BackupConfigurationTests {
    @Test func backups_areSwitchedOn_byADirectory() throws {
        #expect(try Configuration(reading: "").backup == BackupSettings())
        #expect(BackupSettings().directory == nil)
        var expected = BackupSettings(directory: "/mnt/b")
        (expected.every, expected.keep) = (.seconds(6 * 3600), 3)
        let text = "[backup]\ndirectory = \"/mnt/b\"\nevery = \"6h\"\nkeep = 3"
        #expect(try Configuration(reading: text).backup == expected)
    }

    @Test(arguments: [
        ("every = \"10m\"", "backup.every cannot be \"10m\"\nit takes a time from 1h to 720h"),
        ("keep = 1", "backup.keep cannot be 1\nit takes a whole number from 2 to 1000"),
        ("directory = \"b\"", "backup.directory cannot be \"b\"\nit takes a path that begins with /"),
        ("folder = \"/b\"", "unknown key \"backup.folder\""),
    ])
    func illegalValue_isNamedWithWhatIsLegal(text: String, words: String) {
        var said: String?

        do { _ = try Configuration(reading: "[backup]\n\(text)") } catch { said = "\(error)" }

        #expect(said?.hasPrefix("meterd.toml: \(words)") == true, "\(said ?? "nothing")")
    }
}
