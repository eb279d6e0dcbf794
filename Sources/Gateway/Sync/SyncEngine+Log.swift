import Domain
import Logging

extension SyncEngine {
    /// Maximum number of records logged on one line each; more share one line.
    private static let newsMax = 5

    /// Logs settings that this host sent again, because the cloud acknowledged and then lost them, as in a rollback.
    nonisolated func logToldAgain(_ merge: MergeOutcome) {
        guard merge.toldAgain > 0 else { return }
        logger.notice(
            "cloud lost accepted settings: settings sent again",
            metadata: ["settings": "\(merge.toldAgain)"])
    }

    nonisolated func logFullness(_ now: QuotaState?, before: inout QuotaState?) {
        if let now, before == nil {
            logger.warning(
                "cloud quota exceeded: changes wait in the outbox",
                metadata: ["cause": "\(now.failure)"])
        } else if now == nil, before != nil {
            logger.notice("cloud quota available again: outbox sent")
        }
        before = now
    }

    nonisolated func logNews(_ merge: MergeOutcome) async {
        let news = merge.news.filter { $0.hosts.contains { $0 != host } }
        guard !news.isEmpty else { return }
        guard news.count > Self.newsMax else {
            for one in news {
                let words = await words(for: one)
                logger.info("record changed by another host", metadata: words)
            }
            return
        }
        let from = await names(of: Set(news.flatMap(\.hosts)))
        let types = Dictionary(grouping: news) { $0.key.type.rawValue }.mapValues(\.count)
        logger.info(
            "records changed by other hosts",
            metadata: [
                "records": "\(news.count)",
                "types": "\(types.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", "))",
                "from": "\(from)",
            ])
    }

    private nonisolated func words(for news: RecordNews) async -> Logger.Metadata {
        let from = await names(of: Set(news.hosts))
        var words: Logger.Metadata = ["from": "\(from)"]
        if news.key.type == .deviceSettings {
            words["meter.id"] = "\(news.key.name)"
        } else {
            words["record"] = "\(news.key.type.rawValue) \(news.key.name)"
        }
        if !news.properties.isEmpty { words["keys"] = "\(news.properties.joined(separator: ", "))" }
        if news.isDeleted { words["deleted"] = "true" }
        return words
    }

    private nonisolated func names(of hosts: Set<HostID>) async -> String {
        var names: [String] = []
        for other in hosts.sorted() where other != host {
            names.append(await dependencies.hostName(other) ?? "\(other)")
        }
        return names.joined(separator: ", ")
    }

    nonisolated func logEntry(_ zone: SyncZone, _ entry: ZoneEntry, _ progress: SyncProgress) {
        let reason =
            switch entry {
            case .everything: "first sync, or the zone's store was replaced or restored"
            case .own: "previous zone unknown"
            case .another: "another zone than before"
            case .afterLong: "host was away for more than 180 days"
            }
        logger.notice(
            "full resync of zone started",
            metadata: [
                "zone": "\(zone.name)", "reason": "\(reason)", "pending": "\(progress.pending)",
                "parked": "\(progress.parked)",
            ])
    }

    /// - Parameter run: metadata of the halted sync run; empty if there was none.
    nonisolated func logHalt(_ halt: SyncHalt, _ run: Logger.Metadata = [:]) {
        let why: Logger.Metadata = ["cause": "\(halt.failure)", "advice": "\(halt.advice)"]
        logger.error("sync halted", metadata: why.merging(run) { $1 })
    }
}
