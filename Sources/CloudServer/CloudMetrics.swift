package import Domain

/// Everything that a cloud reports to Prometheus.
package enum CloudMetrics {
    static let build = MetricDefinition.gauge(
        "metercloud_build_info", ["version"], "Which metercloud this is; always 1.")
    static let requests = MetricDefinition.counter(
        "metercloud_requests_total", ["route", "status"], "Requests that were answered.")
    static let durations = MetricDefinition.histogram(
        "metercloud_request_duration_seconds", ["route"], "Time until the head of the answer.")
    static let streams = MetricDefinition.gauge("metercloud_streams", "Event streams that are open.")
    static let copies = MetricDefinition.gauge("metercloud_copies", "Other copies of this cloud that are known.")
    static let silentCopies = MetricDefinition.gauge(
        "metercloud_copies_unreachable", "Other copies that cannot be reached, so that their meters are not seen here.")
    static let storeHealthy = MetricDefinition.gauge(
        "metercloud_store_healthy", "1 where the store takes what it is given; 0 where GET /v1/health says why not.")
    package static let connections = MetricDefinition.gauge(
        "metercloud_connections", "Connections that are open, of whoever.")
    package static let refusedConnections = MetricDefinition.counter(
        "metercloud_connections_refused_total", "Connections that were closed because there were too many.")

    // MARK: The store

    package static let zones = MetricDefinition.gauge("metercloud_zones", "Zones.")
    package static let records = MetricDefinition.gauge(
        "metercloud_records", "Records of all zones, deleted ones too.")
    package static let leases = MetricDefinition.gauge("metercloud_leases", "Leases that somebody holds.")
    package static let commits = MetricDefinition.counter("metercloud_commits_total", "Transactions of the store.")
    package static let writes = MetricDefinition.counter(
        "metercloud_writes_total", "Writes in those transactions, which many share.")
    package static let storeBytes = MetricDefinition.gauge(
        "metercloud_store_size_bytes", "The store's file, without its log.")

    package static let backupAge = MetricDefinition.gauge(
        "metercloud_backup_age_seconds",
        "Age of the last good backup, by any copy; absent where it is unknown or there is none.")
    package static let backupFailing = MetricDefinition.gauge(
        "metercloud_backup_failing", "1 where this copy's last backup failed; absent where it writes none.")

    // MARK: Zone quotas

    package static let zoneBytes = MetricDefinition.gauge(
        "metercloud_zone_used_bytes", ["zone"], "Bytes that the zone's records count towards its limit.")
    package static let zoneBytesMax = MetricDefinition.gauge(
        "metercloud_zone_limit_bytes", ["zone"], "Bytes that the zone's records may have.")
    package static let zoneRecords = MetricDefinition.gauge(
        "metercloud_zone_used_records", ["zone"], "Records of the zone, deleted ones too.")
    package static let zoneRecordsMax = MetricDefinition.gauge(
        "metercloud_zone_limit_records", ["zone"], "Records that the zone may have.")

    /// Every metric.
    package static let all: [MetricDefinition] =
        [
            build, requests, durations, streams, copies, silentCopies, storeHealthy, connections, refusedConnections,
            zones, records, leases,
            commits,
            writes, storeBytes, backupAge, backupFailing, zoneBytes, zoneBytesMax, zoneRecords, zoneRecordsMax,
        ]
        + ProcessMetrics.all
}
