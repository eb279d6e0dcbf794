package import Domain

/// Everything that meterd reports to Prometheus.
package enum GatewayMetrics {
    private static let meter = ["meter"]
    private static let adapter = ["adapter"]

    // MARK: meterd

    static let build = MetricDefinition.gauge(
        "meterd_build_info", ["version", "commit", "build"], "Which meterd this is; always 1.")

    // MARK: Meters

    static let info = MetricDefinition.gauge(
        "meterd_meter_info", ["meter", "model", "name", "transport"],
        "What the meter is, what people call it, and over which kind of link it is read; always 1.")
    static let state = MetricDefinition.gauge(
        "meterd_meter_state", ["meter", "state"], "1 for the state that the meter is in, 0 for the others.")
    static let wanted = MetricDefinition.gauge(
        "meterd_meter_wanted", meter, "1 where the meter is to be connected, now and after a restart.")
    static let age = MetricDefinition.gauge(
        "meterd_meter_last_reading_age_seconds", meter, "How old the last reading is; absent before the first.")
    private static let group = ["meter", "group"]
    static let groupEnergy = MetricDefinition.gauge(
        "meterd_meter_group_energy_joules", group, "Energy in one of the meter's own data groups, until it is cleared.")
    static let groupCharge = MetricDefinition.gauge(
        "meterd_meter_group_charge_coulombs", group,
        "Charge in one of the meter's own data groups, until it is cleared.")
    static let signal = MetricDefinition.gauge(
        "meterd_meter_signal_dbm", meter, "How loud the meter's radio was when last heard.")
    static let readings = MetricDefinition.counter("meterd_meter_readings_total", meter, "Readings that came.")
    static let decodeErrors = MetricDefinition.counter(
        "meterd_meter_decode_errors_total", meter, "Times that a good frame had to be searched for.")
    static let skippedBytes = MetricDefinition.counter(
        "meterd_meter_skipped_bytes_total", meter, "Bytes skipped to find a good frame.")
    static let timeouts = MetricDefinition.counter(
        "meterd_meter_timeouts_total", meter, "Requests that no answer came to.")
    static let rejected = MetricDefinition.counter(
        "meterd_meter_rejected_total", meter, "Requests that the meter refused.")
    static let lostSamples = MetricDefinition.counter(
        "meterd_meter_lost_samples_total", meter, "Samples that the meter took by its own clock and that did not come.")
    static let filtered = MetricDefinition.counter(
        "meterd_meter_filtered_samples_total", meter,
        "Samples that the meter cannot have measured, left out or replaced.")
    static let linksOpened = MetricDefinition.counter(
        "meterd_meter_links_opened_total", meter, "Links that went up; what is more than one is a reconnect.")
    static let linksLost = MetricDefinition.counter("meterd_meter_links_lost_total", meter, "Links that were lost.")

    // MARK: Leases

    static let leaseState = MetricDefinition.gauge(
        "meterd_lease_state", ["meter", "state"], "1 for the state that the meter's lease is in, 0 for the others.")
    static let leaseHeld = MetricDefinition.gauge(
        "meterd_lease_held", meter, "1 while this host holds the meter's lease.")
    static let leaseRemaining = MetricDefinition.gauge(
        "meterd_lease_remaining_seconds", meter,
        "Until the meter's lease expires, whoever holds it; absent while nobody does.")

    // MARK: Alerts

    static let alertRaised = MetricDefinition.gauge(
        "meterd_alert_raised", ["meter", "alert"],
        "1 while the alert is raised; absent for one that waits for a change of hands.")
    private static let target = ["target"]
    static let noticesWaiting = MetricDefinition.gauge(
        "meterd_alert_notices_waiting", target, "Notices that are on their way, or are tried again later.")
    static let noticesDelivered = MetricDefinition.counter(
        "meterd_alert_notices_delivered_total", target, "Notices that were taken.")
    static let noticesLost = MetricDefinition.counter(
        "meterd_alert_notices_lost_total", target, "Notices that were refused, or given up.")

    // MARK: Adapters

    static let adapterInfo = MetricDefinition.gauge(
        "meterd_adapter_info", ["adapter", "name"], "What the kernel calls the adapter just now; always 1.")
    static let adapterState = MetricDefinition.gauge(
        "meterd_adapter_state", ["adapter", "state"], "1 for the state that the adapter is in, 0 for the others.")
    static let slots = MetricDefinition.gauge(
        "meterd_adapter_slots", adapter, "Links that the adapter is taken to bear at once.")
    static let slotsUsed = MetricDefinition.gauge(
        "meterd_adapter_slots_used", adapter, "Links to meters that are open or opening.")
    static let heard = MetricDefinition.gauge(
        "meterd_adapter_heard_devices", adapter, "Devices of any kind heard in the last minute.")
    static let recoveries = MetricDefinition.counter(
        "meterd_adapter_recoveries_total", adapter, "Steps taken to bring the adapter back.")
    static let discovery = MetricDefinition.counter(
        "meterd_adapter_discovery_seconds_total", adapter, "Time in which the adapter looked for meters.")

    // MARK: Cloud

    static let joined = MetricDefinition.gauge("meterd_cloud_joined", "1 while this host is a member of a cloud.")
    static let stream = MetricDefinition.gauge(
        "meterd_cloud_stream_open", "1 while the cloud's events are heard; absent without a cloud.")
    static let clockBehind = MetricDefinition.gauge(
        "meterd_cloud_clock_behind_seconds", "What this host's calendar is behind the cloud's.")
    static let pending = MetricDefinition.gauge(
        "meterd_sync_pending_changes", "Changes that wait to be sent to the cloud.")
    static let heldBack = MetricDefinition.gauge(
        "meterd_sync_held_back_records", "Records of which something waits until the cloud has room for it.")
    static let parked = MetricDefinition.gauge(
        "meterd_sync_parked_records",
        "Records that are refused, cannot be kept, or were set aside (`meterctl sync parked`).")
    static let failing = MetricDefinition.gauge(
        "meterd_sync_failed_runs_in_a_row", "Runs that failed since one did not.")
    static let halted = MetricDefinition.gauge("meterd_sync_halted", "1 where sync waits for a person.")
    static let runs = MetricDefinition.counter("meterd_sync_runs_total", "Runs that began.")
    static let ends = MetricDefinition.counter(
        "meterd_sync_ended_runs_total", ["end"], "Runs that were complete, that failed, that were cancelled.")
    static let polls = MetricDefinition.counter("meterd_sync_polls_total", "Times that it was time to ask for changes.")
    static let pollsSkipped = MetricDefinition.counter(
        "meterd_sync_skipped_polls_total", "Those that were needless, as the cloud had told of a change.")
    static let pages = MetricDefinition.counter("meterd_sync_pages_total", "Pages of changes that were read.")
    static let batches = MetricDefinition.counter("meterd_sync_batches_total", "Batches of changes that were told.")
    static let splits = MetricDefinition.counter("meterd_sync_splits_total", "Batches that were too large and halved.")
    static let streamOpenings = MetricDefinition.counter(
        "meterd_sync_stream_openings_total", "Times that the stream of events was opened.")
    static let refreshes = MetricDefinition.counter(
        "meterd_settings_refreshes_total", "Merges that changed a setting here.")

    // MARK: Store

    static let storeBytes = MetricDefinition.gauge(
        "meterd_store_size_bytes", "The store's file, without its log; absent while it cannot be read.")
    static let unsaved = MetricDefinition.gauge(
        "meterd_store_unsaved_readings", "Readings in memory that are not in the store yet.")
    static let saved = MetricDefinition.counter("meterd_store_readings_saved_total", "Readings written to the store.")
    static let dropped = MetricDefinition.counter(
        "meterd_store_readings_dropped_total", "Readings given up because the store took none for too long.")
    static let storeFailing = MetricDefinition.gauge("meterd_store_failing", "1 where the last write failed.")
    static let backupAge = MetricDefinition.gauge(
        "meterd_backup_age_seconds", "Age of the store's last good backup; absent where it is unknown or there is none."
    )
    static let backupFailing = MetricDefinition.gauge(
        "meterd_backup_failing", "1 where the last backup failed; absent where none are written.")

    // MARK: Broker

    static let brokerConnected = MetricDefinition.gauge(
        "meterd_broker_connected", "1 while there is a link to the MQTT broker.")
    static let brokerQueue = MetricDefinition.gauge(
        "meterd_broker_queued_messages", "Messages that wait: to be sent, to be confirmed, or until the broker is back."
    )
    static let brokerPublished = MetricDefinition.counter(
        "meterd_broker_messages_published_total", "Messages that the broker confirmed.")
    static let brokerDropped = MetricDefinition.counter(
        "meterd_broker_messages_dropped_total", "Messages given up because the broker took none for too long.")
    static let brokerRefused = MetricDefinition.counter(
        "meterd_broker_messages_refused_total", "Messages that the broker did not take.")
    static let brokerLinks = MetricDefinition.counter(
        "meterd_broker_links_opened_total", "Links that went up; what is more than one is a reconnect.")

    /// Every metric.
    package static let all: [MetricDefinition] =
        [build, info, state, wanted, age] + Quantity.allCases.map(\.metric) + [
            groupEnergy, groupCharge, signal, readings, decodeErrors, skippedBytes, timeouts, rejected, lostSamples,
            filtered, linksOpened,
            linksLost,
            leaseState, leaseHeld, leaseRemaining,
            alertRaised, noticesWaiting, noticesDelivered, noticesLost,
            adapterInfo, adapterState, slots, slotsUsed, heard, recoveries, discovery,
            joined, stream, clockBehind, pending, heldBack, parked, failing, halted, runs, ends, polls, pollsSkipped,
            pages, batches, splits, streamOpenings, refreshes,
            storeBytes, unsaved, saved, dropped, storeFailing, backupAge, backupFailing,
            brokerConnected, brokerQueue, brokerPublished, brokerDropped, brokerRefused, brokerLinks,
        ] + ProcessMetrics.all
}

extension Quantity {
    /// Its name in Prometheus, in its base unit.
    var metric: MetricDefinition {
        func gauge(_ name: String, _ help: String) -> MetricDefinition {
            .gauge("meterd_meter_\(name)", ["meter"], help)
        }
        func counter(_ name: String, _ help: String) -> MetricDefinition {
            .counter("meterd_meter_\(name)_total", ["meter"], help)
        }
        return switch self {
        case .voltage: gauge("voltage_volts", "Voltage.")
        case .current: gauge("current_amperes", "Current; below 0 where it flows backwards.")
        case .power: gauge("power_watts", "Power.")
        case .energy: counter("energy_joules", "Energy, counted by meterd; 3600 J are 1 Wh.")
        case .charge: counter("charge_coulombs", "Charge, counted by meterd; 3.6 C are 1 mAh.")
        case .temperature: gauge("temperature_celsius", "Temperature, of the meter or its probe.")
        case .dataPlus: gauge("data_plus_volts", "Voltage of the D+ line.")
        case .dataMinus: gauge("data_minus_volts", "Voltage of the D- line.")
        case .resistance: gauge("resistance_ohms", "Resistance of the load, as the meter has it.")
        case .cc1: gauge("cc1_volts", "Voltage of the CC1 line.")
        case .cc2: gauge("cc2_volts", "Voltage of the CC2 line.")
        case .frequency: gauge("frequency_hertz", "Frequency of the mains.")
        case .powerFactor: gauge("power_factor_ratio", "Power factor, 0 to 1.")
        case .supplyVoltage: gauge("supply_volts", "Voltage that the meter itself runs on.")
        case .price:
            gauge("energy_price", "Price of a kilowatt-hour as set in the meter, in a currency it does not tell.")
        case .duration: counter("counting_seconds", "How long the meter's own counter has been running.")
        // It falls where current flows back, as no counter does.
        case .countedEnergy:
            gauge(
                "counted_energy_joules",
                "Energy that meterd has counted, of a meter that counts none; below 0 where more flowed back.")
        case .countedCharge:
            gauge("counted_charge_coulombs", "Charge that meterd has counted, of a meter that counts none.")
        }
    }

    /// Base units for each unit of the reading: 3600 J for 1 Wh, 3.6 C for 1 mAh.
    var baseUnits: Double {
        switch self {
        case .energy, .countedEnergy: 3600
        case .charge, .countedCharge: 3.6
        default: 1
        }
    }
}
