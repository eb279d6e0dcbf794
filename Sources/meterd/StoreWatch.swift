import Domain
import Gateway
import GatewayAPI
import Logging
import MeterStore
import ServerKit
import Synchronization

/// Detects that the store's file was deleted or replaced, and logs it once.
final class StoreWatch: Sendable {
    private let store: MeterStore
    private let recorder: SampleRecorder
    private let backups: BackupKeeper?
    private let logger: Logger
    private let changes: ChangeMarks
    private let isTold = Mutex(false)

    init(
        _ store: MeterStore, recorder: SampleRecorder, backups: BackupKeeper?, changes: ChangeMarks, logger: Logger
    ) {
        self.changes = changes
        self.store = store
        self.recorder = recorder
        self.backups = backups
        self.logger = logger
    }

    func status() -> StoreStatus {
        var status = recorder.status(path: store.path)
        if let trouble = look() { status.error = trouble }
        status.backup = backups.map { BackupStatus($0.report) }
        return status
    }

    /// Returns a description of the problem, with the file's path; nil if there is none.
    @discardableResult
    func look() -> String? {
        let trouble = store.trouble
        let isNews = isTold.withLock { isTold in
            defer { isTold = trouble != nil }
            return isTold != (trouble != nil)
        }
        if isNews { changes.mark(.host) }
        if isNews, let trouble { logger.error("store file lost", metadata: ["cause": "\(trouble)"]) }
        return trouble
    }
}

extension BackupStatus {
    init(_ report: BackupReport) {
        self.init(
            directory: report.directory, written: report.written?.description, age_ms: report.age?.milliseconds,
            error: report.error)
    }
}
