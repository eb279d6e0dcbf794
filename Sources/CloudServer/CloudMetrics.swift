package import Domain

package enum CloudMetrics {
    static let build = MetricDefinition.gauge(
        "metercloud_build_info", ["version"], "Version of metercloud; always 1.")
    static let requests = MetricDefinition.counter(
        "metercloud_requests_total", ["route", "status"], "Requests answered.")
    static let durations = MetricDefinition.histogram(
        "metercloud_request_duration_seconds", ["route"], "Time until the answer's head.")
    static let streams = MetricDefinition.gauge("metercloud_streams", "Open event streams.")
    static let copies = MetricDefinition.gauge("metercloud_copies", "Other known copies of this cloud.")
    static let silentCopies = MetricDefinition.gauge(
        "metercloud_copies_unreachable", "Unreachable copies, whose meters are not seen here.")
    static let storeHealthy = MetricDefinition.gauge(
        "metercloud_store_healthy", "1 if the store works; `GET /v1/health` gives the reason for 0.")
    package static let connections = MetricDefinition.gauge(
        "metercloud_connections", "Open connections, of whoever.")
    package static let refusedConnections = MetricDefinition.counter(
        "metercloud_connections_refused_total", "Connections closed because there were too many.")

    // MARK: The store

    package static let zones = MetricDefinition.gauge("metercloud_zones", "Zones.")
    package static let records = MetricDefinition.gauge(
        "metercloud_records", "Records of all zones, including deleted ones.")
    package static let leases = MetricDefinition.gauge("metercloud_leases", "Leases that are held.")
    package static let commits = MetricDefinition.counter("metercloud_commits_total", "Transactions of the store.")
    package static let writes = MetricDefinition.counter(
        "metercloud_writes_total", "Writes of the store; a transaction has several.")
    package static let storeBytes = MetricDefinition.gauge(
        "metercloud_store_size_bytes", "Size of the store's file without its log.")

    package static let backupAge = MetricDefinition.gauge(
        "metercloud_backup_age_seconds",
        "Age of any copy's last good backup; absent if unknown or none.")
    package static let backupFailing = MetricDefinition.gauge(
        "metercloud_backup_failing", "1 if this copy's last backup failed; absent without backups.")

    // MARK: Zone quotas

    package static let zoneBytes = MetricDefinition.gauge(
        "metercloud_zone_used_bytes", ["zone"], "Bytes of the zone's records.")
    package static let zoneBytesMax = MetricDefinition.gauge(
        "metercloud_zone_limit_bytes", ["zone"], "Limit for the bytes of its records.")
    package static let zoneRecords = MetricDefinition.gauge(
        "metercloud_zone_used_records", ["zone"], "Records of the zone, including deleted ones.")
    package static let zoneRecordsMax = MetricDefinition.gauge(
        "metercloud_zone_limit_records", ["zone"], "Limit for its records.")

    package static let all: [MetricDefinition] =
        [
            build, requests, durations, streams, copies, silentCopies, storeHealthy, connections, refusedConnections,
            zones, records, leases,
            commits,
            writes, storeBytes, backupAge, backupFailing, zoneBytes, zoneBytesMax, zoneRecords, zoneRecordsMax,
        ]
        + ProcessMetrics.all
}
