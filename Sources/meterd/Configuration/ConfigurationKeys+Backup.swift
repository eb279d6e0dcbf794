import Domain

extension ConfigurationKeys {
    static let backup = ConfigurationTable(
        "backup",
        "Backups of the store, and of a served cloud (Docs/Operating.md#a-hosts-own-backup). Without a directory "
            + "meterd writes none.",
        defaults: BackupSettings(),
        keys: [
            .init(
                "directory", optional: \.directory, .file, example: #""/var/backups/meterd""#,
                "Their folder, best on another disk: it exists, belongs to meterd's user, and is outside "
                    + "state-directory. Another folder than this one needs ReadWritePaths= of the service too "
                    + "(systemctl edit meterd)."),
            .init("every", \.every, .time(BackupSettings.everyRange), "How often meterd writes one. {range}."),
            .init(
                "keep", \.keep, .integer(BackupSettings.keepRange),
                "Maximum number of backups, each as large as the store. {range}."),
        ])
}
