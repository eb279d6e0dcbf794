import Domain

extension ConfigurationKeys {
    static let backup = ConfigurationTable(
        "backup",
        "Backups of the store, and of the cloud that is served here, written while meterd runs "
            + "(Docs/Operating.md#a-hosts-own-backup). Without a directory meterd writes none.",
        defaults: BackupSettings(),
        keys: [
            .init(
                "directory", optional: \.directory, .file, example: #""/var/backups/meterd""#,
                "The folder that takes them, best on another disk: it exists, belongs to meterd's user, and is not inside "
                    + "state-directory. As a service meterd may write to /var/backups/meterd; another place needs "
                    + "ReadWritePaths= too (systemctl edit meterd)."),
            .init("every", \.every, .time(BackupSettings.everyRange), "How often one is written. {range}."),
            .init(
                "keep", \.keep, .integer(BackupSettings.keepRange),
                "How many there are at most. Each takes as much room as the store. {range}."),
        ])
}
